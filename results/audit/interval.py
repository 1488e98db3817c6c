"""The numbers that print as a given one, exactly, under each way of printing."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
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

    Both are counted in units of the last digit. Ends are included: halves are rounded either way,
    and floating-point noise may lie below a whole unit.
    """

    name: str
    below: Fraction
    above: Fraction

    def interval(self, value: Decimal, times: int = 1) -> Interval:
        """Hold what prints as `value`.

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
TRUNCATED = Printing("truncated", Fraction(0), Fraction(1))
PRINTINGS = (ROUNDED, TRUNCATED)
