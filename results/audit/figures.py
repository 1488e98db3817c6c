"""The numbers that a paper prints, one by one, under the names of this project."""

from collections.abc import Iterator
from dataclasses import dataclass

from results import names
from results.audit.checks.gaps import standard_error
from results.audit.papers import Paper
from results.audit.table import Column, PrintedTable, Row
from results.record import POOLED

METRICS = {"ppl": "perplexity (hycam)", "bleu": "bleu", "rouge": "rouge-l"}
"""What the printed metrics of texts are called here."""
IN_PERCENT = ("bleu", "rouge-l")
"""Metrics that are kept in percent, and that some papers print as shares."""

Place = tuple[str, str, str, str, tuple[str, ...]]
"""Letters of backbone and method; metric; letters of the column, and of what it averages over."""


@dataclass(frozen=True)
class Figure:
    """One number of a paper."""

    table: str
    """As a report names it: "DyPAM, tab:main_math"."""
    backbone: str
    """As the paper writes it; the method too."""
    method: str
    metric: str
    column: str
    """The letters of a benchmark, the name of an average, or `POOLED`."""
    benchmarks: tuple[str, ...]
    """The letters of those that an average is over, in their order; empty for a benchmark."""
    value: float
    """In the unit of scores: shares in [0, 1], BLEU and ROUGE in percent."""
    half_digit: float
    """How far rounding may have moved it, in the same unit."""
    error: float | None
    """Its standard error over the items of the test sets, in the same unit; None if unknown."""
    trainable: tuple[float, float] | None
    """The printed percentage of trainable parameters, and a unit of its last digit."""

    @property
    def place(self) -> Place:
        """What it is a number of: two figures of one place say the same."""
        of_row = names.backbone(self.backbone), names.method(self.method)
        return *of_row, self.metric, self.column, self.benchmarks


def figures(paper: Paper) -> Iterator[Figure]:
    """Give the numbers that a run here can have too: no ablations, and no tables by size."""
    sets = _sets(paper)
    for table in paper.tables:
        for row in table.rows:
            for index, column in enumerate(table.columns):
                if place := _place(row, column):
                    yield from _figure(table, row, index, place, sets)


def _sets(paper: Paper) -> tuple[str, ...]:
    """Name the sets of texts of a paper, which the heads of its table by set are."""
    found = {
        names.benchmark(column.above)
        for table in paper.tables
        for row in table.rows
        for column in table.columns
        if column.metric == "other" and column.above and row.group
    }
    return tuple(sorted(found))


def _place(row: Row, column: Column) -> tuple[str, str, str] | None:
    """Give backbone, metric and column of a number; None if no run here has one like it."""
    if column.metric == "share":
        if column.kind not in ("benchmark", "micro", "macro") or not row.group:
            return None
        title = names.benchmark(column.title) if column.kind == "benchmark" else column.kind
        return row.group, "accuracy", title
    metric = METRICS.get(names.bare(column.title))
    if not metric or not column.above:
        return None
    if row.group:
        return row.group, metric, names.benchmark(column.above)
    return column.above, metric, POOLED


def _figure(
    table: PrintedTable, row: Row, index: int, place: tuple[str, str, str], sets: tuple[str, ...]
) -> Iterator[Figure]:
    column, cell = table.columns[index], row.cells[index]
    over = _averaged(table, column) if column.kind in ("micro", "macro") else ()
    if not cell or (column.kind in ("micro", "macro") and not over):
        return
    unit = _unit(column, place[1])
    error = standard_error(table, index, row)
    yield Figure(
        table.title,
        place[0],
        row.method,
        *place[1:],
        benchmarks=sets if place[2] == POOLED else over,
        value=float(cell.value) * unit,
        half_digit=unit * 10.0**-cell.decimals / 2,
        error=None if error is None else error * unit,
        trainable=_trainable(table, row),
    )


def _averaged(table: PrintedTable, average: Column) -> tuple[str, ...]:
    titles = (table.columns[index].title for index in table.benchmarks(average))
    return tuple(sorted(map(names.benchmark, titles)))


def _unit(column: Column, metric: str) -> float:
    """Give what a printed 1 is in the unit of scores."""
    if column.metric == "share":
        return 1 / column.whole
    return 100 if metric in IN_PERCENT and column.whole == 1 else 1


def _trainable(table: PrintedTable, row: Row) -> tuple[float, float] | None:
    for column, cell in zip(table.columns, row.cells, strict=True):
        if column.kind == "parameters" and cell:
            return float(cell.value), 10.0**-cell.decimals
    return None
