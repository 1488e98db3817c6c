"""What is said of a method from its seeds, and what of the difference between two.

Seeds are the sample: every number here is one per seed, averaged over items before.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from statistics import fmean, stdev, variance

# Not scipy.stats, which takes longer to import than all the rest of a report takes.
from scipy.special import stdtr, stdtrit

ALPHA = 0.05
SAME = 1e-9
"""Numbers closer than this differ by rounding alone: one item of a million makes 1e-6."""


@dataclass(frozen=True)
class Sample:
    """One number per seed, with its mean, and its standard deviation by n - 1."""

    by_seed: Mapping[int, float]
    mean: float | None
    sd: float | None


@dataclass(frozen=True)
class Welch:
    """Welch's two-sided t-test of a difference of means, with the 95 % interval of it."""

    difference: float
    t: float
    df: float
    p: float
    interval: tuple[float, float]
    n: tuple[int, int]

    @property
    def significant(self) -> bool:
        """Tell whether p is below 0.05."""
        return self.p < ALPHA


@dataclass(frozen=True)
class Undefined:
    """A test that cannot be made, or must not be, and why."""

    reason: str


def sample(by_seed: Mapping[int, float]) -> Sample:
    """Describe the numbers of a few seeds; one alone has no spread, none have no mean.

    >>> sample({2333: 0.5, 1000: 0.75})
    Sample(by_seed={2333: 0.5, 1000: 0.75}, mean=0.625, sd=0.1767766952966369)
    >>> sample({2333: 0.5}).sd is None
    True
    """
    values = by_seed.values()
    mean = fmean(values) if values else None
    return Sample(by_seed, mean, stdev(values) if len(values) > 1 else None)


def welch(a: Collection[float], b: Collection[float]) -> Welch | Undefined:
    """Test whether the means behind two independent samples differ.

    >>> result = welch([3.0, 5.0], [1.0, 1.0, 1.0])
    >>> result.difference, result.t, result.df
    (3.0, 3.0, 1.0)
    >>> welch([1.0], [2.0, 3.0])
    Undefined(reason='one seed')
    >>> welch([0.5, 0.5], [0.25, 0.25])
    Undefined(reason='no spread over seeds')
    """
    if min(len(a), len(b)) < 2:  # noqa: PLR2004 - a spread needs two
        return Undefined("one seed")
    if _constant(a) and _constant(b):
        # The formula would divide by zero, or by rounding noise, and call anything significant.
        return Undefined("no spread over seeds")
    return _welch(a, b)


def _constant(values: Collection[float]) -> bool:
    return max(values) - min(values) < SAME


def _welch(a: Collection[float], b: Collection[float]) -> Welch:
    squares = variance(a) / len(a), variance(b) / len(b)
    error = sum(squares) ** 0.5
    df = sum(squares) ** 2 / (squares[0] ** 2 / (len(a) - 1) + squares[1] ** 2 / (len(b) - 1))
    difference = fmean(a) - fmean(b)
    t = difference / error
    margin = float(stdtrit(df, 1 - ALPHA / 2)) * error
    interval = (difference - margin, difference + margin)
    return Welch(difference, t, df, 2 * float(stdtr(df, -abs(t))), interval, (len(a), len(b)))
