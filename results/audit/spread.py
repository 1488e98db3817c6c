"""GRIMMER: which standard deviations over seeds a share of right items can have.

Anaya, 2016. The GRIMMER test: A method for testing the validity of reported measures of
variability. The squares of whole numbers are whole, so that a variance cannot be any number. Here
it is settled by search whether whole numbers with the sums in question exist.
"""

from collections.abc import Iterable
from fractions import Fraction
from math import ceil, floor, isqrt

from results.audit.interval import Interval


def possible(mean: Interval, sd: Interval, n: int, seeds: int) -> bool:
    """Whether as many counts of right items of `n` have such a mean and such a deviation.

    Args:
        mean: Of the shares, in [0, 1].
        sd: Of the shares, by seeds - 1 (sample) or by seeds (population): both are tried.
        n: Items, the same for all seeds.
        seeds: At least two.
    """
    return any(
        splits(seeds, total, squares, n)
        for total in _whole(mean.times(Fraction(n * seeds)))
        for divisor in (seeds - 1, seeds)
        for squares in _squares(sd, total, n, Fraction(divisor), seeds)
    )


def _whole(interval: Interval) -> range:
    return range(max(0, ceil(interval.low)), floor(interval.high) + 1)


def _squares(sd: Interval, total: int, n: int, divisor: Fraction, seeds: int) -> range:
    """Give the sums of squares that go with a sum: divisor * variance + total^2 / seeds."""
    low, high = (max(Fraction(0), end) ** 2 * n * n * divisor for end in sd)
    middle = Fraction(total * total, seeds)
    return _whole(Interval(low + middle, high + middle))


def splits(parts: int, total: int, squares: int, n: int) -> bool:
    """Whether so many whole numbers from 0 to n have this sum and this sum of squares.

    >>> splits(3, 6, 14, 10), splits(3, 6, 13, 10)
    (True, False)
    """
    spread = parts * squares - total * total
    if spread < 0 or (squares - total) % 2:
        return False
    if parts == 1:
        return spread == 0 and 0 <= total <= n
    if parts == 2:  # noqa: PLR2004 - two numbers follow from their sum and difference
        apart = isqrt(spread)
        return apart * apart == spread and total - apart >= 0 and total + apart <= 2 * n
    return any(
        splits(parts - 1, total - k, squares - k * k, n) for k in _near(parts, total, spread, n)
    )


def _near(parts: int, total: int, spread: int, n: int) -> Iterable[int]:
    """Go through the values that one of the numbers can have, from the mean outwards.

    By Cauchy and Schwarz, none is further from it than sqrt((parts - 1) * spread) / parts.
    """
    reach = isqrt((parts - 1) * spread)
    low, high = max(0, -((reach - total) // parts)), min(n, (total + reach) // parts)
    return sorted(range(low, high + 1), key=lambda k: abs(parts * k - total))


def largest_variance(mean: Interval, seeds: int) -> Fraction:
    """Give the largest sample variance of shares in [0, 1] with such a mean.

    It is mean (1 - mean) seeds / (seeds - 1), largest where the mean is nearest to a half.
    """
    nearest = min(max(Fraction(1, 2), mean.low), mean.high)
    return nearest * (1 - nearest) * seeds / (seeds - 1)
