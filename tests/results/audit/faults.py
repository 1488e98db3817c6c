"""Faults planted in right tables, and what a column can print, worked out without the checks.

Where the checks ask which exact numbers print as a given one, this prints all exact numbers.
"""

from collections.abc import Iterator
from dataclasses import replace
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import cache
from random import Random

import numpy as np
from numpy.typing import NDArray

from results.audit.table import PrintedTable
from tests.results.audit.right_tables import Style

Flags = NDArray[np.bool_]
"""For each value from 0 to the top, in units of the last digit, whether it can be printed."""


@cache
def printable(n: int, seeds: int, top: int, truncated: bool) -> Flags:
    """Print the means of all numbers of right items, and all means of printed seeds."""
    one = _printed(np.arange(n + 1) * top, n, top, truncated)
    counts = _printed(np.arange(n * seeds + 1) * top, n * seeds, top, truncated)
    sums = one
    for _ in range(seeds - 1):
        size = len(sums) + top
        product = np.fft.irfft(np.fft.rfft(sums, size) * np.fft.rfft(one, size), size)
        sums = product > 0.5
    return counts | _printed(np.flatnonzero(sums), seeds, top, truncated)


def _printed(numerators: NDArray[np.int64], denominator: int, top: int, truncated: bool) -> Flags:
    """Cut fractions to whole units: down, or to the nearest, halves either way."""
    flags = np.zeros(top + 1, bool)
    flags[numerators // denominator] = True
    if not truncated:
        flags[:] = False
        flags[(2 * numerators + denominator) // (2 * denominator)] = True
        flags[-((denominator - 2 * numerators) // (2 * denominator))] = True
    return flags


def typo(value: Decimal, random: Random) -> Decimal:
    """Replace one digit, or swap two neighbours, or move the value by up to two points."""
    digits = str(value)
    places = [place for place, digit in enumerate(digits) if digit.isdigit()]
    kind = random.choice(["replace", "swap", "move"])
    if kind == "move":
        unit = Decimal(1).scaleb(value.as_tuple().exponent)  # type: ignore[arg-type]
        return value + unit * random.randint(-2, 2) * random.randint(1, int(1 / unit))
    place = random.choice(places)
    if kind == "replace":
        return Decimal(digits[:place] + random.choice("0123456789") + digits[place + 1 :])
    other = random.choice(places)
    swapped = list(digits)
    swapped[place], swapped[other] = swapped[other], swapped[place]
    return Decimal("".join(swapped))


def with_value(table: PrintedTable, row: int, column: int, value: Decimal) -> PrintedTable:
    """Print another value in one cell."""
    old = table.rows[row]
    cells = list(old.cells)
    cell = cells[column]
    assert cell
    cells[column] = replace(cell, value=value)
    rows = [*table.rows[:row], replace(old, cells=tuple(cells)), *table.rows[row + 1 :]]
    return replace(table, rows=tuple(rows))


def impossible_cell(
    table: PrintedTable, how: Style, random: Random
) -> tuple[PrintedTable, int, int] | None:
    """Plant a typo that leaves what the column can print as the table is printed."""
    benchmarks = [i for i, column in enumerate(table.columns) if column.kind == "benchmark"]
    for _ in range(100):
        row, column = random.randrange(len(table.rows)), random.choice(benchmarks)
        cell, n = table.rows[row].cells[column], table.columns[column].n
        assert cell
        assert n
        value, top = typo(cell.value, random), 100 * 10**how.decimals
        place = int(value.scaleb(how.decimals))
        flags = printable(n, how.seeds, top, how.rounding == ROUND_FLOOR)
        if 0 <= place <= top and not flags[place]:
            return with_value(table, row, column, value), row, column
    return None


def wrong_average(
    table: PrintedTable, how: Style, random: Random
) -> tuple[PrintedTable, int, int] | None:
    """Plant a typo in an average that leaves the interval which the cells' digits allow.

    A printed number is within a unit of the exact one, so that is how far an average of printed
    cells, printed itself, is from the exact average of printed cells at most; over several seeds
    whose digits were cut before, twice as far.
    """
    allowed = Fraction(1 if how.seeds == 1 else 2, 10**how.decimals)
    for _ in range(100):
        row, column = random.choice(list(_averages(table)))
        cell = table.rows[row].cells[column]
        assert cell
        value = typo(cell.value, random)
        if abs(Fraction(value) - _average(table, row, column)) > allowed and value <= 100:
            return with_value(table, row, column, value), row, column
    return None


def _averages(table: PrintedTable) -> Iterator[tuple[int, int]]:
    for column, one in enumerate(table.columns):
        if one.kind in ("micro", "macro"):
            yield from ((row, column) for row in range(len(table.rows)))


def _average(table: PrintedTable, row: int, column: int) -> Fraction:
    """Average the printed cells of a row."""
    micro = table.columns[column].kind == "micro"
    total, weights = Fraction(0), 0
    for one, cell in zip(table.columns, table.rows[row].cells, strict=True):
        if one.kind == "benchmark" and cell:
            weight = (one.n or 0) if micro else 1
            total, weights = total + weight * Fraction(cell.value), weights + weight
    return total / weights
