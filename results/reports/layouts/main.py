"""Methods by benchmarks, a block of rows for each backbone, a sheet for each metric."""

import re
from collections.abc import Sequence

from results.analysis.table import Block, Table
from results.reports import beside, prose
from results.reports.behind import behind
from results.reports.notes import notes
from results.reports.printed import printed
from results.reports.printing import Printing
from results.reports.sheet import Line, LineGroup, Sheet
from results.reports.shown import ranked, without_idle_averages
from results.reports.titles import titled


def sheets(tables: Sequence[Table], printing: Printing) -> list[Sheet]:
    """Make a sheet of each table."""
    return [_sheet(table, printing) for table in tables]


def named(table: Table) -> str:
    """Name a table by its group and its metric."""
    return f"{slug(table.conditions.group)}-{slug(table.metric.name)}"


def _sheet(table: Table, printing: Printing) -> Sheet:
    shown = titled(without_idle_averages(table, printing), printing.titles)
    return Sheet(
        name=named(table),
        tables=(table,),
        title=prose.title(shown, spread=printing.spread),
        columns=beside.columns(shown, with_costs=printing.costs),
        groups=tuple(_group(shown, block, printing) for block in shown.blocks),
        notes=notes([shown], printing.command),
        runs=behind([shown]),
    )


def _group(table: Table, block: Block, printing: Printing) -> LineGroup:
    differing = ranked(block)
    lines = []
    for row in block.rows:
        scores = [
            printed(table.metric, cell, cell.column in differing, printing.spread)
            for cell in row.cells
        ]
        cells = beside.cells(table, row, scores, with_costs=printing.costs)
        lines.append(Line(prose.label(row), cells))
    return LineGroup(block.backbone, tuple(lines))


def slug(text: str) -> str:
    """Write a name as the label of a table does."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
