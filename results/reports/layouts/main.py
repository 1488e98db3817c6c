"""Methods by benchmarks, a block of rows for each backbone, a sheet for each metric."""

import re
from collections.abc import Sequence
from itertools import chain
from operator import itemgetter

from results.analysis.published import PrintedRow, rows
from results.analysis.table import Block, Table, TableRow
from results.reports import prose, published
from results.reports.sheets import beside
from results.reports.sheets.behind import behind
from results.reports.sheets.notes import notes
from results.reports.sheets.printed import printed
from results.reports.sheets.printing import Printing
from results.reports.sheets.sheet import Line, LineGroup, Sheet
from results.reports.sheets.shown import ranked, without_idle_averages
from results.reports.sheets.titles import titled


def sheets(tables: Sequence[Table], printing: Printing) -> list[Sheet]:
    """Make a sheet of each table."""
    return [_sheet(table, printing) for table in tables]


def named(table: Table) -> str:
    """Name a table by its group and its metric."""
    return f"{slug(table.conditions.group)}-{slug(table.metric.name)}"


def _sheet(table: Table, printing: Printing) -> Sheet:
    untitled = without_idle_averages(table, printing)
    shown = titled(untitled, printing.titles)
    of_paper = rows(untitled, printing.published)
    pairs = zip(shown.blocks, of_paper, strict=True)
    return Sheet(
        name=named(table),
        tables=(table,),
        title=prose.title(shown, spread=printing.spread),
        columns=beside.columns(shown, with_costs=printing.costs),
        groups=tuple(_group(shown, block, found, printing) for block, found in pairs),
        notes=(*notes([shown], printing.command), *published.notes(chain(*of_paper))),
        runs=behind([shown]),
    )


def _group(
    table: Table, block: Block, of_paper: Sequence[PrintedRow], printing: Printing
) -> LineGroup:
    own = [_line(table, block, row, printing) for row in block.rows]
    added = [
        (
            len(own) if row.below is None else row.below,
            Line(
                f"{row.method}, published{prose.PUBLISHED}",
                beside.of_paper(table, row, with_costs=printing.costs),
            ),
        )
        for row in of_paper
    ]
    places = sorted([*enumerate(own), *added], key=itemgetter(0))
    return LineGroup(block.backbone, tuple(line for _, line in places))


def _line(table: Table, block: Block, row: TableRow, printing: Printing) -> Line:
    differing = ranked(block)
    scores = [
        printed(table.metric, cell, cell.column in differing, printing.spread) for cell in row.cells
    ]
    return Line(prose.label(row), beside.cells(table, row, scores, with_costs=printing.costs))


def slug(text: str) -> str:
    """Write a name, or the beginning of a long one, as the label of a table does."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower())[:80].strip("-")
