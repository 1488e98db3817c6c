"""The numbers of a method, one per seed: the sample of every test.

A number of a seed is averaged over items, benchmarks and folds before it comes here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean, stdev


@dataclass(frozen=True)
class Sample:
    """One number per seed, with its mean, and its standard deviation by n - 1."""

    by_seed: Mapping[int, float]
    mean: float | None
    sd: float | None


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
