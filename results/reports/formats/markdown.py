"""Tables for a terminal, an issue or a README."""

from collections.abc import Sequence

from results.analysis.metrics import Metric
from results.analysis.ranking import Cell
from results.analysis.table import Block, Table, TableRow
from results.reports import prose
from results.reports.markdown_table import markdown_table

WRAPS: dict[int | None, str] = {1: "**{}**", 2: "_{}_"}


def render(tables: Sequence[Table]) -> str:
    """Write tables one below the other."""
    return "\n\n".join(map(_table, tables))


def _table(table: Table) -> str:
    align = "ll" + "r" * (1 + len(table.columns))
    header = ["backbone", "method", "trainable %", *table.columns]
    lines = [_line(table.metric, block, row) for block in table.blocks for row in block.rows]
    above = [line for line in (prose.title(table), prose.marks(table.conditions)) if line]
    below = [prose.legend(table.metric, "italic"), *prose.notes(table)]
    return "\n\n".join([*above, markdown_table(header, lines, align), *below])


def _line(metric: Metric, block: Block, row: TableRow) -> list[str]:
    numbers = [_cell(metric, cell) for cell in row.cells]
    return [block.backbone, prose.label(row), f"{row.trainable_percent:.3g}", *numbers]


def _cell(metric: Metric, cell: Cell) -> str:
    # Between blanks, Markdown takes the asterisk for itself and not for emphasis.
    star = " *" if cell.significantly_best else ""
    return WRAPS.get(cell.rank, "{}").format(prose.mean(metric, cell.sample)) + star
