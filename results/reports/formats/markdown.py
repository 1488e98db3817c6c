"""Tables for a terminal, an issue or a README."""

from collections.abc import Sequence

from results.analysis.ranking import Cell
from results.analysis.runs.flags import summed_up
from results.analysis.table import Block, Table, TableRow
from results.reports import beside, prose
from results.reports.behind import Behind, behind
from results.reports.layout import Layout, ranked, split, without_idle_averages
from results.reports.markdown_table import GAP, markdown_table

WRAPS: dict[int | None, str] = {1: "**{}**", 2: "_{}_"}


def render(tables: Sequence[Table], layout: Layout) -> str:
    """Write tables one below the other, and below them the flags of all their runs."""
    shown = [_table(without_idle_averages(table, layout), layout) for table in tables]
    return "\n\n".join(filter(None, [*shown, prose.flags(summed_up(tables))]))


def _table(table: Table, layout: Layout) -> str:
    above = [prose.title(table, layout.spread), prose.marks(table.conditions)]
    below = [" ".join(prose.legend(table, "italic")), *prose.notes(table)]
    runs = markdown_table(Behind._fields, behind(table), "llll") if layout.runs else ""
    return "\n\n".join(filter(None, [*above, *_parts(table, layout), *below, runs]))


def _parts(table: Table, layout: Layout) -> list[str]:
    """Lay the columns out, in several tables where they do not fit the width."""
    rows = [(block, row) for block in table.blocks for row in block.rows]
    names = [["backbone", "method"], *([block.backbone, prose.label(row)] for block, row in rows)]
    header = beside.header(table, layout)
    numbers = [header, *(_numbers(table, block, row, layout) for block, row in rows)]
    widths = [max(map(len, column)) + GAP for column in zip(*numbers, strict=True)]
    named = sum(max(map(len, column)) + GAP for column in zip(*names, strict=True))
    room = sum(widths) if layout.characters is None else layout.characters - named - 1
    return [
        markdown_table(lines[0], lines[1:], align="ll" + "r" * (len(lines[0]) - 2))
        for part in split(widths, room)
        for lines in [[[*name, *line[part]] for name, line in zip(names, numbers, strict=True)]]
    ]


def _numbers(table: Table, block: Block, row: TableRow, layout: Layout) -> list[str]:
    differing = ranked(block)
    cells = (_cell(table, cell, cell.column in differing, layout.spread) for cell in row.cells)
    return beside.numbers(table, row, list(cells), layout)


def _cell(table: Table, cell: Cell, marked: bool, spread: bool) -> str:
    if cell.sample.mean is None:
        return prose.missing(cell)
    # Between blanks, Markdown takes the asterisk for itself and not for emphasis.
    star = " *" if cell.significantly_best else ""
    wrap = WRAPS.get(cell.rank, "{}") if marked else "{}"
    return wrap.format(prose.mean(table.metric, cell.sample, spread)) + star
