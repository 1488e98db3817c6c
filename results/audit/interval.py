"""The numbers that print as a given one, exactly, under each way of printing."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import NamedTuple

from results.audit.table import decimals


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

    Both are counted in units of the last digit. The ends are included, as halves are rounded either
    way, but for the upper end if it is open.
    """

    name: str
    below: Fraction
    above: Fraction
    is_open: bool = False

    def multiples(self, value: int, parts: Fraction) -> range:
        """List the whole numbers k of which k / parts prints as a whole number.

        >>> ROUNDED.multiples(1, Fraction(2)), TRUNCATED.multiples(1, Fraction(2))
        (range(1, 4), range(2, 4))
        """
        low, high = parts * (value - self.below), parts * (value + self.above)
        return range(max(0, ceil(low)), ceil(high) if self.is_open else floor(high) + 1)

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
        unit, exact = unit_of(value) * times, Fraction(value)
        return Interval(exact - self.below * unit, exact + self.above * unit)


def unit_of(value: Decimal) -> Fraction:
    """Give one unit of the last printed digit."""
    return Fraction(1, 10 ** decimals(value))


ROUNDED = Printing("rounded", Fraction(1, 2), Fraction(1, 2))
TRUNCATED = Printing("truncated", Fraction(0), Fraction(1), is_open=True)
PRINTINGS = (ROUNDED, TRUNCATED)
CUT = Printing("truncated", Fraction(0), Fraction(1))
"""Truncated after floating-point arithmetic, which gives 28.999999999999996 for 100 * 0.29."""
