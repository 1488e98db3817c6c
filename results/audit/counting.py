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

import numpy as np
from numpy.typing import NDArray

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
    first, end = printing.multiples(np.arange(top + 1), Fraction(parts, top))
    return frozenset(np.flatnonzero(first < end).tolist())


def means(values: Iterable[int], seeds: int, top: int, printing: Printing) -> frozenset[int]:
    """List the values that the mean of `seeds` of the given ones can print."""
    # How many of the sums are below each number.
    below = np.concatenate([[0], np.cumsum(_sums(values, seeds, top))])
    first, end = printing.multiples(np.arange(top + 1), Fraction(seeds))
    last = len(below) - 1
    found = below[np.minimum(first, last)] < below[np.minimum(end, last)]
    return frozenset(np.flatnonzero(found).tolist())


def _sums(values: Iterable[int], many: int, top: int) -> NDArray[np.uint8]:
    """Flag the sums of `many` of the values, from 0 to the largest that there can be."""
    terms, sums = sorted(values), 1
    for _ in range(many):
        sums = _either(sums << term for term in terms)
    size = many * top // 8 + 1
    return np.unpackbits(np.frombuffer(sums.to_bytes(size, "little"), np.uint8), bitorder="little")


def _either(bits: Iterable[int]) -> int:
    found = 0
    for some in bits:
        found |= some
    return found
