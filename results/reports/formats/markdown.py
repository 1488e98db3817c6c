"""Tables for a terminal, an issue or a README."""

from collections.abc import Sequence

from results.analysis.metrics import Metric
from results.analysis.ranking import Cell
from results.analysis.table import Block, Table, TableRow
from results.reports import costs as costs_report
from results.reports import prose
from results.reports.formats import Extra
from results.reports.markdown_table import markdown_table

WRAPS: dict[int | None, str] = {1: "**{}**", 2: "_{}_"}


def render(tables: Sequence[Table], extra: Extra) -> str:
    """Write tables one below the other."""
    return "\n\n".join(_table(table, extra) for table in tables)


def _table(table: Table, extra: Extra) -> str:
    tried = any(row.choice for block in table.blocks for row in block.rows)
    costs = costs_report.HEADER if extra.costs else ()
    header = ["backbone", "method", *["tries"] * tried, "trainable %", *table.columns, *costs]
    lines = [
        _line(table.metric, block, row, tried=tried, costs=extra.costs)
        for block in table.blocks
        for row in block.rows
    ]
    align = "ll" + "r" * (len(header) - 2)
    above = [line for line in (prose.title(table), prose.marks(table.conditions)) if line]
    below = [prose.legend(table.metric, "italic"), *prose.notes(table)]
    runs = [_runs(table)] if extra.runs else []
    return "\n\n".join([*above, markdown_table(header, lines, align), *below, *runs])


def _line(metric: Metric, block: Block, row: TableRow, *, tried: bool, costs: bool) -> list[str]:
    tries = [str(row.choice.tries) if row.choice else "-"] * tried
    numbers = [_cell(metric, cell) for cell in row.cells]
    spent = costs_report.cells(row.costs) if costs else ()
    return [block.backbone, prose.label(row), *tries, prose.trainable(row), *numbers, *spent]


def _runs(table: Table) -> str:
    """List the runs behind the cells; a row's columns share them unless one lacks some."""
    lines = [
        [block.backbone, row.label, ", ".join(columns), " ".join(ids)]
        for block in table.blocks
        for row in block.rows
        for ids, columns in _by_runs(row).items()
    ]
    return markdown_table(["backbone", "method", "columns", "runs"], lines, "llll")


def _by_runs(row: TableRow) -> dict[tuple[str, ...], list[str]]:
    found: dict[tuple[str, ...], list[str]] = {}
    for cell in row.cells:
        found.setdefault(cell.runs, []).append(cell.column)
    return {ids: columns if len(found) > 1 else ["all"] for ids, columns in found.items() if ids}


def _cell(metric: Metric, cell: Cell) -> str:
    if cell.sample.mean is None:
        return prose.missing(cell)
    # Between blanks, Markdown takes the asterisk for itself and not for emphasis.
    star = " *" if cell.significantly_best else ""
    return WRAPS.get(cell.rank, "{}").format(prose.mean(metric, cell.sample)) + star
