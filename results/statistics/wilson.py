"""Wilson's score interval of a share: how far a share of so many rows may be from that of all."""

from math import sqrt
from statistics import NormalDist

from results.statistics.test import ALPHA


def interval(share: float, n: int) -> tuple[float, float]:
    """Give the interval of a share in [0, 1] of `n` rows, at least one.

    Wilson, 1927. Probable Inference, the Law of Succession, and Statistical Inference, formula 7.

    >>> [round(end, 4) for end in interval(0.5, 10)]
    [0.2366, 0.7634]
    >>> [round(end, 4) for end in interval(0.0, 3)]
    [0.0, 0.5615]
    """
    z = NormalDist().inv_cdf(1 - ALPHA / 2)
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)
