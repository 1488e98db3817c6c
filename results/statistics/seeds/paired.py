"""Paired t-test over seeds: whether the differences within a seed are 0 on average.

    t = mean(d) / sqrt(s_d^2 / n),    d_k = a_k - b_k of seed k,    n - 1 degrees of freedom

"Student", 1908. The Probable Error of a Mean. It finds more than Welch's test where a seed moves
both methods alike, and less where it does not.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import sqrt
from statistics import correlation, fmean

from results.statistics.estimate import Estimate
from results.statistics.power import hedges
from results.statistics.sample import constant, finite, variance
from results.statistics.test import Alternative, Claim, Test, Undefined


def paired(
    a: Mapping[int, float], b: Mapping[int, float], alternative: Alternative = "two-sided"
) -> Test | Undefined:
    """Test whether two methods differ within a seed.

    The effect is in units of the SD of the differences.

    >>> result = paired({1: 5.0, 2: 6.0, 3: 10.0}, {1: 4.0, 2: 4.0, 3: 7.0})
    >>> result.difference, result.df, round(result.statistic, 4), round(result.correlation, 4)
    (2.0, 2, 3.4641, 0.982)
    >>> paired({1: 0.5, 2: 0.6}, {1: 0.4, 3: 0.5})
    Undefined(reason='the two have other seeds', withheld=True)
    """
    if a.keys() != b.keys():
        return Undefined("the two have other seeds", withheld=True)
    if len(a) < 2:  # noqa: PLR2004 - a spread needs two
        return Undefined("one seed")
    pairs = [(a[seed], b[seed]) for seed in a]
    return of_pairs(pairs, 1 / len(pairs), "{} paired t-test", "seeds", alternative)


def of_pairs(
    pairs: Sequence[tuple[float, float]],
    factor: float,
    name: str,
    claim: Claim,
    alternative: Alternative,
) -> Test | Undefined:
    """Test the mean difference within pairs, whose squared error is `factor` times s_d^2."""
    first, second = zip(*pairs, strict=True)
    if not finite([*first, *second]):
        return Undefined("a score is not finite")
    differences = [a - b for a, b in pairs]
    if constant(differences, scale=max(map(abs, [*first, *second]))):
        return Undefined("no spread of the differences")
    sd = sqrt(variance(differences))
    estimate = Estimate(fmean(differences), sd * sqrt(factor), len(pairs) - 1)
    effect = hedges(estimate.difference, sd, estimate.df)
    test = estimate.test(name, claim, (len(pairs), len(pairs)), alternative, effect)
    return replace(test, correlation=_correlation(first, second))


def _correlation(a: Sequence[float], b: Sequence[float]) -> float | None:
    return None if constant(a) or constant(b) else correlation(a, b)
