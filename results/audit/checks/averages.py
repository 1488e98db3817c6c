"""Averages that do not follow from the cells beside them.

The printed cells are known to within their last digit only, so an average is known to within an
interval. It is computed for numbers that were all rounded and for numbers that were all truncated,
and for means over seeds also from cells whose digits were cut twice.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from results.audit.finding import Finding, Grade
from results.audit.interval import PRINTINGS, ROUNDED, Interval
from results.audit.table import Cell, Column, PrintedTable, Row

CHECK = "averages"


@dataclass(frozen=True)
class Average:
    """One of the two averages: its name and the weights of the benchmarks, which sum to one."""

    name: str
    weights: tuple[Fraction, ...]
    of: str
    """How a line of arithmetic names it."""


@dataclass(frozen=True)
class _Misfit:
    row: Row
    cell: Cell
    cells: tuple[Cell, ...]


def check(table: PrintedTable) -> Iterator[Finding]:
    """Ask about averages that no numbers behind the printed cells give."""
    for index, column in enumerate(table.columns):
        if column.kind in ("micro", "macro", "average"):
            yield from _column(table, index, column)


def _column(table: PrintedTable, index: int, column: Column) -> Iterator[Finding]:
    parts = table.benchmarks(column)
    averages = list(_averages([table.columns[part] for part in parts], column))
    asked = [one for one in averages if column.kind in (one.name, "average")]
    if not asked:
        return
    misfits = [
        one
        for one in _rows(table, index, parts)
        if not any(_fits(table, one, average) for average in asked)
    ]
    others = [one for one in averages if one not in asked]
    for other in others:
        if len(misfits) > 1 and all(_fits(table, one, other) for one in misfits):
            yield _other_average(table, column, misfits, asked, other)
            return
    yield from (_misfit(table, column, one, asked) for one in misfits)


def _averages(benchmarks: Sequence[Column], column: Column) -> Iterator[Average]:
    """Give the averages that can be taken; over items only of shares of known sizes."""
    if not benchmarks:
        return
    sizes = [one.n for one in benchmarks]
    if all(sizes) and column.metric == "share":
        known = [size or 0 for size in sizes]
        weights = tuple(Fraction(size, sum(known)) for size in known)
        yield Average("micro", weights, f"over {sum(known)} items")
    many = len(benchmarks)
    yield Average("macro", (Fraction(1, many),) * many, f"over {many} benchmarks")


def _rows(table: PrintedTable, index: int, parts: Sequence[int]) -> Iterator[_Misfit]:
    """Go through the rows of which the average and all benchmarks are printed."""
    for row, cell in table.cells(index):
        cells = tuple(found for part in parts if (found := row.cells[part]))
        if len(cells) == len(parts):
            yield _Misfit(row, cell, cells)


def _fits(table: PrintedTable, row: _Misfit, average: Average) -> bool:
    """Whether some numbers behind the cells have the printed average."""
    # The mean over seeds of printed values lost its digits twice.
    times = 1 if table.seeds == 1 else 2
    return any(
        printing.interval(row.cell.value, times).meets(
            weighted([printing.interval(cell.value, times) for cell in row.cells], average)
        )
        for printing in PRINTINGS
    )


def weighted(intervals: Sequence[Interval], average: Average) -> Interval:
    """Average numbers that are known to within an interval each."""
    parts = (one.times(weight) for one, weight in zip(intervals, average.weights, strict=True))
    return reduce(Interval.plus, parts)


def _computed(row: _Misfit, average: Average) -> str:
    """Write the average of the cells with its interval, for rounded cells."""
    low, high = weighted([ROUNDED.interval(cell.value) for cell in row.cells], average)
    digits = row.cell.decimals + 1
    return f"{float(low):.{digits}f} to {float(high):.{digits}f}"


def _misfit(table: PrintedTable, column: Column, row: _Misfit, asked: Sequence[Average]) -> Finding:
    computed = "; ".join(f"{one.name} {one.of} is {_computed(row, one)}" for one in asked)
    return Finding(
        _grade(table, asked),
        CHECK,
        f"{row.row}, {column}",
        "Was this average taken of other numbers than the printed ones?",
        f"{row.cell.value} is printed; {computed}",
    )


def _other_average(
    table: PrintedTable,
    column: Column,
    misfits: Sequence[_Misfit],
    asked: Sequence[Average],
    other: Average,
) -> Finding:
    first = misfits[0]
    return Finding(
        _grade(table, [*asked, other]),
        CHECK,
        str(column),
        f"Is this column the {other.name} average?",
        f"{len(misfits)} rows fit the {other.name} average {other.of} and not the one that is "
        f"named, such as {first.row}: {first.cell.value} is printed, {_computed(first, other)}",
    )


def _grade(table: PrintedTable, asked: Sequence[Average]) -> Grade:
    sizes_matter = any(one.name == "micro" for one in asked)
    return "notable" if sizes_matter and not table.sizes_declared else "inconsistent"
