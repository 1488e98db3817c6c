"""Leads that are smaller than the standard error of one score over test items.

The standard error of a share p of n items is sqrt(p (1 - p) / n), however many seeds are averaged;
that of micro and macro averages takes the benchmarks as strata.
"""

from collections.abc import Iterator, Sequence
from math import sqrt
from typing import NamedTuple

from results.audit.finding import Finding
from results.audit.table import Cell, Column, PrintedTable, Row

CHECK = "gaps"


class Lead(NamedTuple):
    """What the best row of a block is ahead of the second, and the error of its score."""

    row: str
    gap: float
    error: float


def check(table: PrintedTable) -> Iterator[Finding]:
    """Note for each column in how many blocks the best leads by less than a standard error."""
    for index, column in enumerate(table.columns):
        leads = [
            lead
            for rows in table.blocks().values()
            if (lead := _lead(table, index, rows)) is not None
        ]
        small = [lead for lead in leads if lead.gap < lead.error]
        if small:
            yield _finding(column, small, len(leads))


def _finding(column: Column, small: Sequence[Lead], blocks: int) -> Finding:
    least = min(small, key=lambda lead: lead.gap)
    where = f"in {len(small)} of {blocks} blocks " if blocks > 1 else ""
    return Finding(
        "notable",
        CHECK,
        str(column),
        "Would the best remain the best on other items?",
        f"{where}the lead is below the standard error over items, smallest for "
        f"{least.row}: {least.gap:.2f} < {least.error:.2f}",
    )


def _lead(table: PrintedTable, index: int, rows: Sequence[Row]) -> Lead | None:
    """Give the lead in a block; None if nothing leads, or the error is unknown."""
    printed = [(cell.value, row) for row in rows if (cell := row.cells[index])]
    if len(printed) < 2:  # noqa: PLR2004 - a lead is of one over another
        return None
    order = table.columns[index].higher_is_better
    (best, row), (second, _) = sorted(printed, key=lambda one: one[0], reverse=order)[:2]
    error = standard_error(table, index, row)
    return None if error is None else Lead(str(row), float(abs(best - second)), error)


def standard_error(table: PrintedTable, index: int, row: Row) -> float | None:
    """Give the standard error of a cell over items, in units of its column; None if unknown."""
    column = table.columns[index]
    if column.metric != "share" or column.kind not in ("benchmark", "micro", "macro"):
        return None
    parts = [index] if column.kind == "benchmark" else table.benchmarks(column)
    shares = [_share(table.columns[part], row.cells[part]) for part in parts]
    sizes = [table.columns[part].n or 0 for part in parts]
    if not parts or None in shares or 0 in sizes:
        return None
    weights = [size / sum(sizes) if column.kind == "micro" else 1 / len(sizes) for size in sizes]
    variances = [
        weight**2 * share * (1 - share) / size
        for weight, share, size in zip(weights, shares, sizes, strict=True)
        if share is not None
    ]
    return column.whole * sqrt(sum(variances))


def _share(column: Column, cell: Cell | None) -> float | None:
    """Give the share in [0, 1] that a cell prints."""
    share = float(cell.value) / column.whole if cell else None
    return share if share is not None and 0 <= share <= 1 else None
