"""The numbers that print as a given one, exactly, under each way of printing."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from results.audit.table import decimals

Whole = NDArray[np.int64]


class Interval(NamedTuple):
    """All numbers from `low` to `high`, both included."""

    low: Fraction
    high: Fraction

    def meets(self, other: "Interval") -> bool:
        """Whether some number is in both."""
        return self.low <= other.high and other.low <= self.high

    def plus(self, other: "Interval") -> "Interval":
        """Hold the sums of a number of each."""
        return Interval(self.low + other.low, self.high + other.high)

    def times(self, factor: Fraction) -> "Interval":
        """Hold the multiples of all numbers, for a factor that is not negative."""
        return Interval(self.low * factor, self.high * factor)


@dataclass(frozen=True)
class Printing:
    """How a number is cut to its digits: what prints as v is from v - below to v + above.

    Both are counted in halves of a unit of the last digit. The ends are included, as halves are
    rounded either way, but for the upper end if it is open.
    """

    name: str
    below: int
    above: int
    is_open: bool = False

    def multiples(self, values: Whole, parts: Fraction) -> tuple[Whole, Whole]:
        """Find the whole numbers k of which k / parts prints as each of the given values.

        Returns:
            The first ones, and the ends, which are not among them.

        >>> [one.tolist() for one in ROUNDED.multiples(np.array([1]), Fraction(2))]
        [[1], [4]]
        >>> [one.tolist() for one in TRUNCATED.multiples(np.array([1]), Fraction(2))]
        [[2], [4]]
        """
        low = parts.numerator * (2 * values - self.below)
        high = parts.numerator * (2 * values + self.above)
        whole = 2 * parts.denominator
        ends = -(-high // whole) if self.is_open else high // whole + 1
        return np.maximum(0, -(-low // whole)), ends

    def interval(self, value: Decimal, times: int = 1) -> Interval:
        """Hold what prints as `value`, both ends included.

        Args:
            value: As printed.
            times: How often digits were cut: twice for a mean of printed numbers, printed again.

        >>> ROUNDED.interval(Decimal("0.5"))
        Interval(low=Fraction(9, 20), high=Fraction(11, 20))
        >>> TRUNCATED.interval(Decimal("0.5"), times=2)
        Interval(low=Fraction(1, 2), high=Fraction(7, 10))
        """
        half, exact = unit_of(value) * times / 2, Fraction(value)
        return Interval(exact - self.below * half, exact + self.above * half)


def unit_of(value: Decimal) -> Fraction:
    """Give one unit of the last printed digit."""
    return Fraction(1, 10 ** decimals(value))


ROUNDED = Printing("rounded", 1, 1)
TRUNCATED = Printing("truncated", 0, 2, is_open=True)
PRINTINGS = (ROUNDED, TRUNCATED)
CUT = Printing("truncated", 0, 2)
"""Truncated after floating-point arithmetic, which gives 28.999999999999996 for 100 * 0.29."""
