"""What all charts have in common: means with intervals, and what a page of charts may choose."""

from collections.abc import Mapping
from dataclasses import dataclass

from results.analysis.metrics import Metric
from results.analysis.ranking import Cell
from results.analysis.series import unique
from results.analysis.table import Block, Table, TableRow
from results.errors import ResultsError, unknown
from results.leaderboard.source import Opened
from results.leaderboard.values.tables import Found, ordered, passes
from results.leaderboard.values.titles import titles
from results.leaderboard.view import View
from results.reports import prose
from results.reports.sheets.shown import overall
from results.reports.sheets.titles import method_title, titled


@dataclass(frozen=True)
class Mean:
    """A mean as it is printed, in the unit of its metric, with its interval at 95 %."""

    value: float
    text: str
    low: float | None
    high: float | None
    interval: str
    """Empty without one."""
    over: str
    """What the interval is over: "seeds", or of one run "items"."""
    seeds: int


@dataclass(frozen=True)
class Missing:
    """What a chart does not show, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class Subject:
    """What a chart is about."""

    title: str
    backbones: tuple[str, ...]
    column: str
    metric: str
    """Its title, with the unit."""
    lower_is_better: bool
    marks: tuple[str, ...]


@dataclass(frozen=True)
class Choices:
    """A view of the store, and what else may be chosen."""

    view: View
    groups: tuple[str, ...]
    backbones: tuple[str, ...]
    columns: tuple[str, ...]
    refusals: tuple[str, ...]
    """Why runs were not compared."""
    titles: Mapping[str, str]
    """What papers call groups and benchmarks, where that is known."""


@dataclass(frozen=True)
class Charted:
    """A table in the words of papers, and the column of it that a chart is of."""

    table: Table
    column: str
    labels: Mapping[str, str]
    """The labels of its methods, as addresses have them, by their titles."""


def choices(opened: Opened, view: View, made: Found) -> Choices:
    """Say what a page of charts may choose; `view` is completed."""
    return Choices(
        view=view,
        groups=opened.groups,
        backbones=opened.backbones(view.group),
        columns=unique(map(ordered, made.tables)),
        refusals=tuple(table.refusal for table in made.tables if table.refusal),
        titles=titles(opened, made),
    )


def charted(opened: Opened, made: Found, view: View, column: str = "") -> list[Charted]:
    """List the tables that a view lets through, each with the column that a chart is of.

    Raises:
        ResultsError: No table has a column of that name.
    """
    known = unique(table.columns for table in made.tables)
    if column and known and column not in known:
        raise ResultsError(unknown("column", column, known))
    shown = [table for table in made.tables if table.blocks and passes(table, view)]
    wanted = [table for table in shown if not column or column in table.columns]
    called = titles(opened, made)
    return [_charted(table, column or overall(table), called) for table in wanted]


def _charted(table: Table, column: str, called: Mapping[str, str]) -> Charted:
    labels = [row.label for block in table.blocks for row in block.rows]
    return Charted(
        table=titled(table, called),
        column=called.get(column, column),
        labels={method_title(label, called): label for label in labels},
    )


def subject(of: Charted, *blocks: Block) -> Subject:
    """Say what a chart of some blocks of a table is about."""
    table, metric = of.table, of.table.metric
    return Subject(
        title=prose.title(table, spread=False, column=of.column),
        backbones=tuple(block.backbone for block in blocks),
        column=of.column,
        metric=metric.title,
        lower_is_better=metric.lower_is_better,
        marks=table.conditions.marks,
    )


def cell_of(row: TableRow, column: str) -> Cell:
    """Find the cell of a row in a column that its table has."""
    return next(cell for cell in row.cells if cell.column == column)


def mean_of(metric: Metric, cell: Cell) -> Mean | None:
    """Give the mean of a cell as it is printed; None without one."""
    if cell.sample.mean is None:
        return None
    ends = (cell.interval.low, cell.interval.high) if cell.interval else ()
    return Mean(
        value=metric.points(cell.sample.mean),
        text=metric.written(cell.sample.mean),
        low=metric.points(ends[0]) if ends else None,
        high=metric.points(ends[1]) if ends else None,
        interval=prose.interval(metric, cell.interval),
        over=cell.interval.over if cell.interval else "",
        seeds=len(cell.sample.by_seed),
    )


def why_missing(cell: Cell) -> str:
    """Say why a cell has no mean."""
    word = prose.missing(cell)
    return "no score" if word == "-" else word


def on_intervals(means: Mapping[str, Mean]) -> list[str]:
    """Say what the intervals of a chart are over, and which means have none, and why."""

    def named(over: str) -> str:
        return ", ".join(name for name, mean in means.items() if mean.over == over)

    told = []
    if named("seeds"):
        told.append("Intervals at 95 %, over seeds.")
    if items := named("items"):
        of = f"That of {items}" if told else "Intervals at 95 %"
        told.append(f"{of}, of one run each, over test items: nothing is said of other seeds.")
    none = {name: mean.seeds > 1 for name, mean in means.items() if not mean.over}
    for several, why in ((True, "no spread over seeds"), (False, "one run")):
        if names := [name for name, of_several in none.items() if of_several == several]:
            told.append(f"No interval of {', '.join(names)}: {why}.")
    return told
