"""The columns beside the scores: tries, trainable parameters, costs."""

from collections.abc import Sequence

from results.analysis.published import PrintedRow
from results.analysis.table import Table, TableRow
from results.reports import costs, prose, published
from results.reports.sheets.sheet import Column, Printed


def columns(table: Table, *, with_costs: bool) -> tuple[Column, ...]:
    """Title the columns of a table: what is beside the scores, and the scores."""
    after = costs.HEADER if with_costs else ()
    titles = (*["tries"] * _tried(table), "trainable %", *table.columns, *after)
    return tuple(map(Column, titles))


def cells(
    table: Table, row: TableRow, scores: Sequence[Printed], *, with_costs: bool
) -> tuple[Printed, ...]:
    """Put what is beside the scores of a row before and after them, a cell for each column."""
    tries = [str(row.choice.tries) if row.choice else "-"] * _tried(table)
    after = costs.cells(row.costs) if with_costs else ()
    return (*map(Printed, [*tries, prose.trainable(row)]), *scores, *map(Printed, after))


def of_paper(table: Table, row: PrintedRow, *, with_costs: bool) -> tuple[Printed, ...]:
    """Put what a paper prints of a method into the same columns, without any mark of a rank."""
    tries, after = ["-"] * _tried(table), ["-"] * len(costs.HEADER) * with_costs
    scores = (published.score(table.metric, figure) for figure in row.figures)
    return tuple(map(Printed, [*tries, published.trainable(row), *scores, *after]))


def _tried(table: Table) -> bool:
    return any(row.choice for block in table.blocks for row in block.rows)
