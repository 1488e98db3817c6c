"""Tables for a terminal, an issue or a README."""

from collections.abc import Sequence

from results import caption
from results.grid import grid
from results.metrics import Metric
from results.standing import Cell
from results.table import Block, Row, Table

WRAPS = {"best": "**{}**", "second": "_{}_", "": "{}"}


def render(tables: Sequence[Table]) -> str:
    """Write tables one below the other."""
    return "\n\n".join(map(_table, tables))


def _table(table: Table) -> str:
    align = "ll" + "r" * (1 + len(table.columns))
    header = ["backbone", "method", "trainable %", *table.columns]
    lines = [_line(table.metric, block, row) for block in table.blocks for row in block.rows]
    above = [line for line in (caption.title(table), caption.marks(table.conditions)) if line]
    below = [caption.legend(table.metric, "italic"), *caption.notes(table)]
    return "\n\n".join([*above, grid(header, lines, align), *below])


def _line(metric: Metric, block: Block, row: Row) -> list[str]:
    numbers = [_cell(metric, cell) for cell in row.cells]
    return [block.backbone, caption.label(row), f"{row.trainable_percent:.3g}", *numbers]


def _cell(metric: Metric, cell: Cell) -> str:
    # Between blanks, Markdown takes the asterisk for itself and not for emphasis.
    star = " *" if cell.starred else ""
    return WRAPS[cell.standing].format(caption.printed(metric, cell.sample)) + star
