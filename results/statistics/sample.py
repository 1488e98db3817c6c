"""The numbers of a method, one per seed: the sample of every test.

A number of a seed is averaged over items, benchmarks and folds before it comes here.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import fsum, sqrt
from statistics import fmean

from results.statistics.estimate import Estimate

SAME = 1e-9
"""Numbers closer than this differ by rounding alone: one item of a million makes 1e-6."""

LARGEST = 1e70
"""Fourth powers of larger numbers overflow; no score is as large."""


@dataclass(frozen=True)
class Sample:
    """One number per seed, with its mean, and its standard deviation by n - 1."""

    by_seed: Mapping[int, float]
    mean: float | None
    sd: float | None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Give Student's interval of the mean at 95 %; without spread over seeds there is none.

        >>> [round(end, 3) for end in sample({1: 2.0, 2: 4.0, 3: 6.0}).interval]
        [-0.968, 8.968]
        """
        if self.mean is None or self.sd is None or constant(self.by_seed.values()):
            return None
        n = len(self.by_seed)
        return Estimate(self.mean, self.sd / sqrt(n), n - 1).interval()


def sample(by_seed: Mapping[int, float]) -> Sample:
    """Describe the numbers of a few seeds; one alone has no spread, none have no mean.

    If a number is not finite there is neither.

    >>> sample({2333: 0.5, 1000: 0.75})
    Sample(by_seed={2333: 0.5, 1000: 0.75}, mean=0.625, sd=0.1767766952966369)
    >>> sample({2333: 0.5}).sd is None
    True
    """
    values = by_seed.values()
    if not values or not finite(values):
        return Sample(by_seed, None, None)
    spread = sqrt(variance(values)) if len(values) > 1 else None
    return Sample(by_seed, fmean(values), spread)


def variance(values: Collection[float]) -> float:
    """Give the variance by n - 1 of two or more numbers, exactly 0 if all are equal.

    `statistics.variance` computes in fractions, which takes 25 times as long; a table of 20 methods
    tests thousands of pairs.

    >>> variance([0.5, 0.5, 0.75, 1.25])
    0.125
    """
    least = min(values)
    moved = [value - least for value in values]
    mean = fmean(moved)
    return fsum((one - mean) ** 2 for one in moved) / (len(values) - 1)


def finite(values: Collection[float]) -> bool:
    """Tell whether all are finite, and small enough for the powers that tests take."""
    return all(abs(value) < LARGEST for value in values)


def constant(values: Collection[float], scale: float = 0.0) -> bool:
    """Tell whether values differ by rounding alone, relative to the largest, or to `scale`."""
    return max(values) - min(values) < SAME * max(1.0, scale, *map(abs, values))
