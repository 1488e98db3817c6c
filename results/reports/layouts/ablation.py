"""The variants of a method below the full method, with their differences to it."""

from collections.abc import Sequence
from dataclasses import replace

from results.analysis.metrics import Metric
from results.analysis.runs.recipes import without_recipe
from results.analysis.runs.variants import full, with_variants
from results.analysis.table import Block, Table, TableRow
from results.errors import ResultsError
from results.record import Run
from results.reports import prose
from results.reports.layouts import Part, main
from results.reports.sheets.notes import Note
from results.reports.sheets.printing import Printing
from results.reports.sheets.sheet import Column, LineGroup, Printed, Sheet
from results.reports.sheets.shown import overall, without_idle_averages
from results.reports.sheets.titles import method_title, titled


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
    return [Part(own, name if _finished(name, own) else "") for name, own in found.items()]


def _finished(method: str, runs: Sequence[Run]) -> bool:
    return any(run.status == "finished" and without_recipe(run.method) == method for run in runs)


def sheets(tables: Sequence[Table], printing: Printing) -> list[Sheet]:
    """Make a sheet of each table, whose rows are of one method.

    Raises:
        ResultsError: Only some methods are to be printed.
    """
    if printing.methods:
        raise ResultsError(
            "The layout `ablation` shows the differences to the method in full, which needs all "
            "rows. Leave out --methods, or choose --layout main."
        )
    arranged = main.sheets(tables, replace(printing, published=None))
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
    whole = next((row for row in block.rows if _is_full(row)), None)
    pairs = sorted(zip(block.rows, group.lines, strict=True), key=lambda pair: pair[0] is not whole)
    lines = (
        replace(line, cells=(*line.cells, _difference(metric, row, whole, column)))
        for row, line in pairs
    )
    return replace(group, lines=tuple(lines))


def _is_full(row: TableRow) -> bool:
    return without_recipe(row.method) == full(row.method)


def _difference(metric: Metric, row: TableRow, whole: TableRow | None, column: str) -> Printed:
    mean, of_whole = _mean(row, column), _mean(whole, column) if whole else None
    if mean is None or of_whole is None or row is whole:
        return Printed("-")
    return Printed(metric.written(mean - of_whole, "+"))


def _mean(row: TableRow, column: str) -> float | None:
    return next(cell.sample.mean for cell in row.cells if cell.column == column)
