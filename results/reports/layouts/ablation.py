"""The variants of a method below the full method, with their differences to it."""

from collections.abc import Sequence
from dataclasses import replace

from results.analysis.metrics import Metric
from results.analysis.ranking import Cell
from results.analysis.runs.variants import full, with_variants
from results.analysis.table import Block, Table, TableRow
from results.errors import ResultsError
from results.record import Run
from results.reports import prose
from results.reports.layouts import Part, main
from results.reports.notes import Note
from results.reports.printing import Printing
from results.reports.sheet import Column, LineGroup, Printed, Sheet
from results.reports.shown import overall, without_idle_averages
from results.reports.titles import method_title, titled


def parts(runs: Sequence[Run]) -> list[Part]:
    """Give each method with variants tables of its own, and declare it.

    Raises:
        ResultsError: No method was run in full and as a variant.
    """
    found = with_variants(runs)
    if not found:
        raise ResultsError(
            "No method has runs in full and as a variant, such as `rosa` and `rosa:roae-only`.\n"
            "  `harness methods NAME` lists the variants of a method."
        )
    return [Part(own, name) for name, own in found.items()]


def sheets(tables: Sequence[Table], printing: Printing) -> list[Sheet]:
    """Make a sheet of each table, whose rows are of one method."""
    arranged = main.sheets(tables, printing)
    pairs = zip(arranged, tables, strict=True)
    return [_with_differences(sheet, table, printing) for sheet, table in pairs if table.blocks]


def _with_differences(sheet: Sheet, table: Table, printing: Printing) -> Sheet:
    shown = without_idle_averages(table, printing)
    method, column = full(table.blocks[0].rows[0].method), overall(shown)
    title = method_title(method, printing.titles) if printing.titles is not None else method
    pairs = zip(sheet.groups, shown.blocks, strict=True)
    told = f"Δ: {column} minus that of {title} in full."
    return replace(
        sheet,
        name=f"{sheet.name}-{main.slug(method)}-ablation",
        title=prose.title(
            titled(shown, printing.titles),
            spread=printing.spread,
            what=f"ablation of {title}, {table.metric.title}",
        ),
        columns=(*sheet.columns, Column(f"Δ {column}")),
        groups=tuple(_group(group, block, table.metric, column) for group, block in pairs),
        notes=(Note("tests", told), *sheet.notes),
    )


def _group(group: LineGroup, block: Block, metric: Metric, column: str) -> LineGroup:
    """Put the full method first, and end each row in its difference."""
    cells = [_cell(row, column) for row in block.rows]
    whole = next((n for n, row in enumerate(block.rows) if row.method == full(row.method)), None)
    lines = [
        replace(line, cells=(*line.cells, _difference(metric, cell, whole, cells)))
        for line, cell in zip(group.lines, cells, strict=True)
    ]
    order = sorted(range(len(lines)), key=lambda n: n != whole)
    return replace(group, lines=tuple(lines[n] for n in order))


def _cell(row: TableRow, column: str) -> Cell:
    return next(cell for cell in row.cells if cell.column == column)


def _difference(metric: Metric, cell: Cell, whole: int | None, cells: Sequence[Cell]) -> Printed:
    minuend, other = cell.sample.mean, None if whole is None else cells[whole].sample.mean
    if minuend is None or other is None or cell is cells[whole or 0]:
        return Printed("-")
    return Printed(metric.written(minuend - other, "+"))
