"""Bold and underlined cells that are not the best and the second of their block.

The best is looked for among the printed values of a block of rows in one column, by the direction
of the metric. Values that print equal may differ unprinted, so marks among them are but notable.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from results.audit.finding import Finding, Grade
from results.audit.table import Cell, Column, PrintedTable, Row

CHECK = "marks"
RANKED = ("benchmark", "micro", "macro", "average", "other")

Line = Sequence[tuple[Row, Cell]]
"""The cells of one block in one column."""


@dataclass(frozen=True)
class _Place:
    """A rank and its mark."""

    name: Literal["best", "second"]
    mark: Literal["bold", "underlined"]
    value: Decimal


def check(table: PrintedTable) -> Iterator[Finding]:
    """Ask about marks on other cells, about ties marked in part, and about unmarked columns."""
    for rows in table.blocks().values():
        lines = {
            column: [(row, cell) for row in rows if (cell := row.cells[index])]
            for index, column in enumerate(table.columns)
            if column.kind in RANKED
        }
        bold = [column for column, line in lines.items() if any(cell.bold for _, cell in line)]
        for column in bold:
            yield from _line(column, lines[column])
        missing = [column for column in lines if lines[column] and column not in bold]
        if len(missing) == 1 and len(bold) > 1 and _varies(lines[missing[0]]):
            yield _unmarked(rows, missing[0], lines[missing[0]])


def _varies(line: Line) -> bool:
    return len({cell.value for _, cell in line}) > 1


def _line(column: Column, line: Line) -> Iterator[Finding]:
    order = sorted({cell.value for _, cell in line}, reverse=column.higher_is_better)
    yield from _marked(column, line, _Place("best", "bold", order[0]))
    if len(order) > 1:
        yield from _marked(column, line, _Place("second", "underlined", order[1]), order[0])


def _marked(
    column: Column, line: Line, place: _Place, better: Decimal | None = None
) -> Iterator[Finding]:
    """Compare the cells that have a mark with those that have the rank.

    Where several are best, the second may be underlined among them.
    """
    marked = [(row, cell) for row, cell in line if getattr(cell, place.mark)]
    tied = sum(cell.value == better for _, cell in line) > 1
    for row, cell in marked:
        if cell.value != place.value and not (tied and cell.value == better):
            yield _finding("inconsistent", column, row, cell, place)
    right = [cell for _, cell in marked if cell.value == place.value]
    for row, cell in line:
        if right and cell.value == place.value and not getattr(cell, place.mark):
            yield _finding("notable", column, row, cell, place)


def _finding(grade: Grade, column: Column, row: Row, cell: Cell, place: _Place) -> Finding:
    if grade == "notable":
        question = "Do these values differ in digits that are not printed?"
        said = f"not {place.mark}, though another cell of the same value is"
    else:
        question = f"Is this the {place.name} value of its block?"
        said = f"{place.mark}; the {place.name} printed value is {place.value}"
    return Finding(grade, CHECK, f"{row}, {column}", question, f"{cell.value} is {said}")


def _unmarked(rows: Sequence[Row], column: Column, line: Line) -> Finding:
    values = [cell.value for _, cell in line]
    best = max(values) if column.higher_is_better else min(values)
    where = f"{rows[0].group}, {column}" if rows[0].group else str(column)
    return Finding(
        "notable",
        CHECK,
        where,
        "Is a bold value missing?",
        f"all other columns of the block have one; the best value is {best}",
    )
