"""The columns beside the scores: tries, trainable parameters, costs."""

from collections.abc import Sequence

from results.analysis.table import Table, TableRow
from results.reports import costs, prose
from results.reports.layout import Layout


def header(table: Table, layout: Layout) -> list[str]:
    """Title the numbers of a row: what is beside the scores, and the scores."""
    after = costs.HEADER if layout.costs else ()
    return [*["tries"] * _tried(table), "trainable %", *table.columns, *after]


def numbers(table: Table, row: TableRow, scores: Sequence[str], layout: Layout) -> list[str]:
    """Put what is beside the scores before and after them, a text for each title."""
    tries = [str(row.choice.tries) if row.choice else "-"] * _tried(table)
    after = costs.cells(row.costs) if layout.costs else ()
    return [*tries, prose.trainable(row), *scores, *after]


def _tried(table: Table) -> bool:
    return any(row.choice for block in table.blocks for row in block.rows)
