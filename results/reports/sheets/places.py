"""Rows whose columns come from several blocks or tables."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from results.analysis.series import unique
from results.analysis.table import Block, Table
from results.reports.sheets.printed import printed
from results.reports.sheets.printing import Printing
from results.reports.sheets.sheet import Line, Printed
from results.reports.sheets.shown import ranked


@dataclass(frozen=True)
class Place:
    """Where the cells of a column are."""

    table: Table
    block: Block
    column: str


def lines(places: Sequence[Place], printing: Printing) -> tuple[Line, ...]:
    """Write a row for each method of any place; a dash stands where it has no cell.

    A cell that lacks a seed has the dagger itself, since other cells of its row may be complete.
    """
    methods = unique([row.label for row in place.block.rows] for place in places)
    return tuple(
        Line(method, tuple(_printed(place, method, printing) for place in places))
        for method in methods
    )


def _printed(place: Place, method: str, printing: Printing) -> Printed:
    marked = place.column in ranked(place.block)
    found = (
        replace(
            printed(place.table.metric, cell, marked, printing.spread), dagger=not cell.complete
        )
        for row in place.block.rows
        for cell in row.cells
        if row.label == method and cell.column == place.column
    )
    return next(found, Printed("-"))
