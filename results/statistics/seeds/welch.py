"""Welch's t-test: whether two means differ, without assuming equal variances.

    t = (mean_a - mean_b) / sqrt(s_a^2 / n_a + s_b^2 / n_b)

Welch, 1947. The generalization of "Student's" problem when several different population variances
are involved. The degrees of freedom are those of Welch and Satterthwaite. With 3 to 10 seeds it
finds a difference of equal methods in 3 to 5 % of cases; in up to 10 % where their numbers are
skewed and those of one spread three times as far.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from statistics import fmean

from results.statistics.estimate import Estimate
from results.statistics.power import hedges
from results.statistics.sample import constant, finite, variance
from results.statistics.test import Alternative, Test, Undefined

NAME = "Welch's two-sided t-test"


def welch(
    a: Mapping[int, float] | Collection[float],
    b: Mapping[int, float] | Collection[float],
    alternative: Alternative = "two-sided",
) -> Test | Undefined:
    """Test whether the means behind two independent samples differ.

    A sample is one number per seed. The effect is in units of the pooled SD.

    >>> result = welch([3.0, 5.0], [1.0, 1.0, 1.0])
    >>> result.difference, result.statistic, result.df
    (3.0, 3.0, 1.0)
    >>> welch([1.0], [2.0, 3.0])
    Undefined(reason='one seed', withheld=False)
    >>> welch([0.5, 0.5], [0.25, 0.25])
    Undefined(reason='no spread over seeds', withheld=False)
    """
    one, other = _summary(tuple(_numbers(a))), _summary(tuple(_numbers(b)))
    if min(one.n, other.n) < 2:  # noqa: PLR2004 - a spread needs two
        return Undefined("one seed")
    if not (one.finite and other.finite):
        return Undefined("a score is not finite")
    if one.constant and other.constant:
        # The formula would divide by zero, or by rounding noise, and call anything significant.
        return Undefined("no spread over seeds")
    return _welch(one, other, alternative)


@dataclass(frozen=True)
class _Summary:
    """What the test needs of a sample; without a finite spread, the zeros are not looked at."""

    n: int
    finite: bool
    constant: bool = True
    mean: float = 0.0
    variance: float = 0.0


def _numbers(sample: Mapping[int, float] | Collection[float]) -> Collection[float]:
    return sample.values() if isinstance(sample, Mapping) else sample


# In a table, each method is tested against all others.
@lru_cache(maxsize=1024)
def _summary(values: tuple[float, ...]) -> _Summary:
    n = len(values)
    if n < 2 or not finite(values):  # noqa: PLR2004 - a spread needs two
        return _Summary(n, finite(values))
    return _Summary(n, True, constant(values), fmean(values), variance(values))


def _welch(a: _Summary, b: _Summary, alternative: Alternative) -> Test:
    squares = a.variance / a.n, b.variance / b.n
    square = sum(squares)
    df = 1 / sum(
        (one / square) ** 2 / (sample.n - 1) for one, sample in zip(squares, (a, b), strict=True)
    )
    estimate = Estimate(a.mean - b.mean, sqrt(square), df)
    pooled = sqrt((a.variance * (a.n - 1) + b.variance * (b.n - 1)) / (a.n + b.n - 2))
    effect = hedges(estimate.difference, pooled, a.n + b.n - 2)
    return estimate.test("Welch's {} t-test", "seeds", (a.n, b.n), alternative, effect)
