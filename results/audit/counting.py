"""GRIM: which printed values a share of right items can have, for so many items and seeds.

Brown and Heathers, 2017. The GRIM Test: A Simple Technique Detects Numerous Anomalies in the
Reporting of Results in Psychology. A mean of whole numbers is a multiple of 1/n, so that not every
value of two decimals can be one.

A value counts in units of its last digit: 71.50 of 100 is 7150 of `top` = 10000.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from results.audit.interval import Printing


@dataclass(frozen=True)
class Possible:
    """The possible values of a column, by the three ways in which a cell may have come about."""

    one: frozenset[int]
    """Of one seed."""
    counts: frozenset[int]
    """Of the mean of exact values of all seeds, those of one among them."""
    printed: frozenset[int]
    """Of the mean of values that were cut to the printed digits before."""
    top: int

    def __contains__(self, value: int) -> bool:
        return value in self.counts or value in self.printed

    @property
    def share(self) -> float:
        """The share of all values from 0 to `top` that is possible in one of the ways."""
        return len(self.counts | self.printed) / (self.top + 1)


@cache
def possible(n: int, seeds: int, top: int, printing: Printing) -> Possible:
    """List what so many seeds on so many items can print.

    >>> from results.audit.interval import ROUNDED
    >>> sorted(possible(3, 1, 100, ROUNDED).one)
    [0, 33, 67, 100]
    """
    one = multiples(n, top, printing)
    counts = multiples(n * seeds, top, printing)
    more = len(counts) <= top and seeds > 1
    return Possible(one, counts, means(one, seeds, top, printing) if more else one, top)


def multiples(parts: int, top: int, printing: Printing) -> frozenset[int]:
    """List the values that a multiple of 1 / `parts` can print."""
    per_unit = Fraction(parts, top)
    return frozenset(v for v in range(top + 1) if printing.multiples(v, per_unit))


def means(values: Iterable[int], seeds: int, top: int, printing: Printing) -> frozenset[int]:
    """List the values that the mean of `seeds` of the given ones can print."""
    sums = f"{_sums(values, seeds):b}"[::-1]
    totals = {v: printing.multiples(v, Fraction(seeds)) for v in range(top + 1)}
    return frozenset(v for v, found in totals.items() if "1" in sums[found.start : found.stop])


def _sums(values: Iterable[int], many: int) -> int:
    """Set the bits of all sums of `many` of the values."""
    terms, sums = sorted(values), 1
    for _ in range(many):
        sums = _either(sums << term for term in terms)
    return sums


def _either(bits: Iterable[int]) -> int:
    found = 0
    for some in bits:
        found |= some
    return found
