"""Cells that are no possible share of right items (GRIM), and how finely a column can vary."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from results.audit.finding import Finding, some
from results.audit.fits import countable, fits, printed, printings, units, ways
from results.audit.interval import CUT, ROUNDED, TRUNCATED
from results.audit.table import Cell, Column, PrintedTable, Row

CHECK = "GRIM"
SILENT = 0.9
"""A column of which more values are possible says nothing about its cells."""
NEARLY_ALL = 0.95
"""The share of cells from which on means over seeds are asked about as shares of one run."""
TRIED = (3, 5, 10)
"""Numbers of seeds that are tried where none is declared."""


@dataclass(frozen=True)
class Resolution:
    """How many of the values that could be printed a column can have; each in [0, 1]."""

    column: str
    n: int
    seeds: int
    decimals: int
    one: float
    """As the share of one seed."""
    counts: float
    """As the mean of the exact shares of all seeds."""
    any: float
    """In one of the ways, the mean of printed values among them."""


def resolutions(table: PrintedTable) -> list[Resolution]:
    """Describe the columns of which at most nine in ten values are possible."""
    found = (_resolution(table, index) for index in countable(table))
    return [one for one in found if one and one.any <= SILENT]


def _resolution(table: PrintedTable, index: int) -> Resolution | None:
    column, cells = table.columns[index], [cell for _, cell in table.cells(index)]
    if not cells:
        return None
    cell = max(cells, key=lambda cell: cell.decimals)
    found = ways(column, table.seeds or 1, cell, ROUNDED)
    return Resolution(
        column=str(column),
        n=column.n or 0,
        seeds=table.seeds or 1,
        decimals=cell.decimals,
        one=len(found.one) / (found.top + 1),
        counts=len(found.counts) / (found.top + 1),
        any=found.share,
    )


def check(table: PrintedTable) -> Iterator[Finding]:
    """Ask about cells that no numbers of right items give.

    With a declared size and number of seeds each such cell is impossible; else there is one notable
    finding for a column.
    """
    yield from _beyond(table)
    yield from _one_run(table)
    for index in countable(table):
        column = table.columns[index]
        misfits = [
            (row, cell)
            for row, cell in table.cells(index)
            if _within(column, cell) and not printings(column, table.seeds or 1, cell)
        ]
        if table.seeds and table.sizes_declared:
            yield from (_misfit(table, column, row, cell) for row, cell in misfits)
        elif misfits:
            yield _notable(table, index, [cell for _, cell in misfits])


def _within(column: Column, cell: Cell) -> bool:
    return 0 <= cell.value <= column.whole


def _beyond(table: PrintedTable) -> Iterator[Finding]:
    for index, column in enumerate(table.columns):
        if column.kind in ("benchmark", "micro", "macro", "average") and column.metric == "share":
            for row, cell in table.cells(index):
                if not _within(column, cell):
                    yield Finding(
                        "impossible",
                        CHECK,
                        f"{row}, {column}",
                        "Is this a share of right items?",
                        f"{cell.value} is not between 0 and {column.whole}",
                    )


def _one_run(table: PrintedTable) -> Iterator[Finding]:
    """Ask about means over seeds that are shares of one run far more often than means are."""
    indices, seeds = countable(table), table.seeds or 1
    cells = [(table.columns[index], cell) for index in indices for _, cell in table.cells(index)]
    found = [ways(column, seeds, cell, ROUNDED) for column, cell in cells]
    expected = sum(len(one.one) / len(one.counts) for one in found)
    single = sum(bool(printings(column, 1, cell)) for column, cell in cells)
    if single > max(2 * expected, NEARLY_ALL * len(cells)):
        yield Finding(
            "notable",
            CHECK,
            "the table",
            f"Are these cells means of {seeds} runs, or of one?",
            f"{single} of {len(cells)} cells are shares of one run; of means of {seeds} runs about "
            f"{expected:.0f} would be",
        )


def _misfit(table: PrintedTable, column: Column, row: Row, cell: Cell) -> Finding:
    """Grade a cell: in a truncated table, floating-point noise may have cost it a unit."""
    assert table.seeds
    noise = fits(column, table.seeds, cell, CUT) and printed(table) == TRUNCATED.name
    runs = "one run" if table.seeds == 1 else f"one run or {table.seeds}"
    return Finding(
        "notable" if noise else "impossible",
        CHECK,
        f"{row}, {column}",
        "Was this number truncated after floating-point arithmetic?"
        if noise
        else f"Which numbers of right items of {column.n} give this value?",
        f"{cell.value} is printed; the nearest means of {runs} are {_around(column, table, cell)}",
    )


def _around(column: Column, table: PrintedTable, cell: Cell) -> str:
    """Write the possible values next to a cell, of rounded means."""
    found, value = ways(column, table.seeds or 1, cell, ROUNDED), units(cell)
    known = found.counts | found.printed
    beside = [
        *sorted((one for one in known if one < value), reverse=True)[:1],
        *sorted(one for one in known if one > value)[:1],
    ]
    unit = 10**cell.decimals
    return " and ".join(f"{one / unit:.{cell.decimals}f}" for one in beside)


def _notable(table: PrintedTable, index: int, misfits: Sequence[Cell]) -> Finding:
    column, seeds = table.columns[index], table.seeds or 1
    runs = "one run" if seeds == 1 else f"{seeds} runs"
    many = f"{len(misfits)} of {len(list(table.cells(index)))} cells"
    return Finding(
        "notable",
        CHECK,
        str(column),
        "How many items and runs are behind these cells?",
        f"no share of {column.n} items in {runs}: {some([str(cell.value) for cell in misfits])} "
        f"({many}){_enough(table, column, misfits)}",
    )


def _enough(table: PrintedTable, column: Column, misfits: Sequence[Cell]) -> str:
    """Name a number of seeds that would do, where none is declared."""
    for seeds in () if table.seeds else TRIED:
        if all(printings(column, seeds, cell) for cell in misfits):
            return f"; with {seeds} runs all are"
    return ""
