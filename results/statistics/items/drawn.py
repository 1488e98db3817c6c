"""Drawing permutations and resamples, always the same ones."""

from collections.abc import Iterator

import numpy as np

from results.statistics.items.verdicts import Floats
from results.statistics.test import ALPHA, Alternative

DRAWS = 10_000
"""So many permutations or resamples are drawn."""

SEED = 2333
"""Of the generator, so that the same answers give the same p."""

AT_ONCE = 2**22
"""So many numbers at most are drawn at once: 32 MiB."""


def generator() -> np.random.Generator:
    """Begin the numbers of one test."""
    return np.random.default_rng(SEED)


def p_value(extreme: int) -> float:
    """Give the p of a test in which so many of the drawn ones are as extreme as what was seen.

    (b + 1)/(m + 1): what was seen is one of the possible outcomes, so no p is 0. Phipson and Smyth,
    2010. Permutation P-values Should Never Be Zero.
    """
    return (extreme + 1) / (DRAWS + 1)


def chunks(width: int) -> Iterator[int]:
    """Divide the draws, each of `width` numbers, into so many at once."""
    size = max(1, AT_ONCE // max(1, width))
    for start in range(0, DRAWS, size):
        yield min(size, DRAWS - start)


def resample(random: np.random.Generator, parts: Floats) -> Floats:
    """Draw as many units as there are, with replacement, and sum what they hold.

    `parts` is (units, parts); the sums are (DRAWS, parts). Units that hold the same are
    interchangeable: how often each kind is drawn is multinomial.
    """
    kinds, counts = np.unique(parts, axis=0, return_counts=True)
    return np.concatenate(
        [
            random.multinomial(len(parts), counts / len(parts), size).astype(float) @ kinds
            for size in chunks(len(kinds))
        ]
    )


def around_zero(drawn: Floats, alternative: Alternative) -> tuple[float, float]:
    """Give the p of resampled differences, and the smallest that so many resamples can give.

    One-sided it is the share that are not above 0, and two-sided twice the smaller share of those
    not above and those not below: what the percentile interval excludes is significant.
    """
    below, above = int((drawn <= 0).sum()), int((drawn >= 0).sum())
    if alternative == "greater":
        return p_value(below), p_value(0)
    return min(1.0, 2 * p_value(min(below, above))), 2 * p_value(0)


def percentiles(drawn: Floats) -> tuple[float, float]:
    """Give the percentile interval of resampled differences. Efron, 1979."""
    low, high = np.quantile(drawn, (ALPHA / 2, 1 - ALPHA / 2))
    return float(low), float(high)
