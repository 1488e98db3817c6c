"""How many seeds or items a difference needs to be found, from a variance that was seen.

The variance of a few numbers is itself uncertain, so the answer is a number with a range.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from math import exp, sqrt
from statistics import fmean

from scipy.special import chdtri, ndtri

from results.statistics.power import noncentrality
from results.statistics.sample import constant, finite, variance
from results.statistics.seeds import FEWEST
from results.statistics.test import ALPHA, Undefined


@dataclass(frozen=True)
class Needed:
    """The number that finds a difference with a power of 80 %, two-sided at ALPHA."""

    n: int
    low: int
    high: int
    """`low` to `high`: at the ends of the 95 % interval of the variance."""


def seeds_needed(delta: float, samples: Collection[Collection[float]]) -> Needed | Undefined:
    """Give the number of seeds of each of two methods that finds a difference of `delta` above 0.

    `samples` are the numbers of the methods seen, one per seed. Their pooled variance is taken for
    that of both methods. Its interval is by chi-square: s^2 df / chi^2(df).

    >>> seeds_needed(1.0, [[2.0, 3.0, 2.5, 3.5, 4.0]])
    Needed(n=11, low=5, high=82)
    """
    several = [one for one in samples if len(one) > 1]
    df = sum(len(one) - 1 for one in several)
    if not several:
        return Undefined("one seed")
    if not all(map(finite, several)):
        return Undefined("a score is not finite")
    if all(map(constant, several)):
        return Undefined("no spread over seeds")
    pooled = sum(variance(one) * (len(one) - 1) for one in several) / df
    likely = [pooled * df / float(chdtri(df, tail)) for tail in (ALPHA / 2, 1 - ALPHA / 2)]
    n, low, high = (_seeds(delta, each) for each in (pooled, *likely))
    return Needed(n, low, high)


def items_needed(delta: float, differences: Collection[float]) -> Needed | Undefined:
    """Give the number of items on which two trained models differ by `delta` above 0.

    `differences` are of the items seen, one per item or cluster of items; they need not be normal
    and are mostly 0. The interval of their variance is by its kurtosis, on the logarithm:
    var(s^2) = s^4 (m_4 / m_2^2 - (n - 3) / (n - 1)) / n.

    >>> items_needed(0.02, [1.0] * 30 + [-1.0] * 20 + [0.0] * 450)
    Needed(n=1961, low=1509, high=2548)
    """
    if len(differences) < FEWEST:
        return Undefined("too few items")
    if not finite(differences):
        return Undefined("the score of an item is not finite")
    if constant(differences):
        return Undefined("no spread over items")
    n, middle, square = len(differences), fmean(differences), variance(differences)
    second, fourth = (fmean((one - middle) ** k for one in differences) for k in (2, 4))
    error = sqrt((fourth / second**2 - (n - 3) / (n - 1)) / n)
    factor = exp(float(ndtri(1 - ALPHA / 2)) * error)
    return Needed(*(_items(delta, each) for each in (square, square / factor, square * factor)))


def _seeds(delta: float, square: float) -> int:
    return _fewest(lambda n: noncentrality(2 * n - 2) * sqrt(2 * square / n) <= delta)


def _items(delta: float, square: float) -> int:
    return _fewest(lambda n: noncentrality(n - 1) * sqrt(square / n) <= delta)


def _fewest(enough: Callable[[int], bool]) -> int:
    """Find the smallest number from FEWEST on that is enough, as are all larger ones."""
    low, high = FEWEST - 1, FEWEST
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
