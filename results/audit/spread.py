"""GRIMMER: which standard deviations over seeds a share of right items can have.

Anaya, 2016. The GRIMMER test: A method for testing the validity of reported measures of
variability. The squares of whole numbers are whole, so that a variance cannot be any number. Here
it is settled by search whether whole numbers with the sums in question exist.
"""

from bisect import bisect_left
from collections.abc import Iterable
from fractions import Fraction
from math import ceil, floor, isqrt

from results.audit.interval import Interval

FEW, MANY = 3, 8
"""Of more than three numbers nearly every sum of squares exists: where more than eight would do,
none is searched for."""


def possible(mean: Interval, sd: Interval, n: int, seeds: int) -> bool:
    """Whether as many counts of right items of `n` have such a mean and such a deviation.

    Args:
        mean: Of the shares, in [0, 1].
        sd: Of the shares, by seeds - 1 (sample) or by seeds (population): both are tried.
        n: Items, the same for all seeds.
        seeds: At least two.
    """
    return any(
        _some(_squares(sd, total, n, Fraction(divisor), seeds), seeds, total, n)
        for total in _whole(mean.times(Fraction(n * seeds)))
        for divisor in (seeds - 1, seeds)
    )


def _some(squares: range, seeds: int, total: int, n: int) -> bool:
    """Whether one of the sums of squares exists."""
    return (seeds > FEW and len(squares) > MANY) or any(
        splits(seeds, total, one, n) for one in squares
    )


def _whole(interval: Interval) -> range:
    return range(max(0, ceil(interval.low)), floor(interval.high) + 1)


def _squares(sd: Interval, total: int, n: int, divisor: Fraction, seeds: int) -> range:
    """Give the sums of squares that go with a sum: divisor * variance + total^2 / seeds.

    They are even where the sum is even, since a whole number and its square are even together.
    """
    low, high = (max(Fraction(0), end) ** 2 * n * n * divisor for end in sd)
    middle = Fraction(total * total, seeds)
    found = _whole(Interval(low + middle, high + middle))
    first = found.start + (found.start - total) % 2
    return range(first, min(found.stop, _most(seeds, total, n) + 1), 2)


def splits(parts: int, total: int, squares: int, n: int) -> bool:
    """Whether so many whole numbers from 0 to n have this sum and this sum of squares.

    >>> splits(3, 6, 14, 10), splits(3, 6, 13, 10)
    (True, False)
    """
    spread = parts * squares - total * total
    if spread < 0 or (squares - total) % 2 or squares > _most(parts, total, n):
        return False
    if parts == 1:
        return spread == 0
    if parts == 2:  # noqa: PLR2004 - two numbers follow from their sum and difference
        apart = isqrt(spread)
        return apart * apart == spread and total - apart >= 0 and total + apart <= 2 * n
    return any(
        splits(parts - 1, total - k, squares - k * k, k) for k in _largest(parts, total, squares, n)
    )


def _most(parts: int, total: int, n: int) -> int:
    """Give the largest sum of squares: as many numbers as can be are n, one is what is left."""
    full, left = divmod(total, n) if n else (0, total)
    return full * n * n + left * left if 0 <= total <= parts * n else -1


def _largest(parts: int, total: int, squares: int, n: int) -> Iterable[int]:
    """Go through the values that the largest of the numbers can have, from their middle outwards.

    By Cauchy and Schwarz, it is above the mean by sqrt((parts - 1) * spread) / parts at most; and
    it is so large that the others, no larger, have the squares that are left.
    """
    spread = parts * squares - total * total
    high = min(n, (total + isqrt((parts - 1) * spread)) // parts)
    values = range(-(-total // parts), high + 1)
    low = bisect_left(values, squares, key=lambda k: _most(parts, total, k))
    middle = (low + len(values)) // 2
    return sorted(values[low:], key=lambda k: abs(k - values[0] - middle))


def largest_variance(mean: Interval, seeds: int) -> Fraction:
    """Give the largest sample variance of shares in [0, 1] with such a mean.

    It is mean (1 - mean) seeds / (seeds - 1), largest where the mean is nearest to a half.
    """
    nearest = min(max(Fraction(1, 2), mean.low), mean.high)
    return nearest * (1 - nearest) * seeds / (seeds - 1)
