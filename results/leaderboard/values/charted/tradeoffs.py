"""Score against what it costs, with the Pareto front: as values that page and API share."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from results.analysis.metrics import Metric
from results.analysis.table import Block, TableRow
from results.leaderboard.source import Opened
from results.leaderboard.values.charted.means import (
    Charted,
    Choices,
    Mean,
    Missing,
    Subject,
    cell_of,
    charted,
    choices,
    mean_of,
    on_intervals,
    subject,
    why_missing,
)
from results.leaderboard.values.tables import found
from results.leaderboard.view import Against, Axes, View
from results.reports import costs, prose
from results.statistics.pareto import beaten_by

FRONT = (
    "Line: the Pareto front of the means, the methods that no other beats in both. "
    "It is no test: an interval that reaches beyond it leaves open whether a method is beaten."
)
SETTINGS = "Thin lines join the settings of one method, from the cheapest to the dearest."
NOTHING_TO_TRADE = "One trained method has both numbers: there is nothing to trade."


@dataclass(frozen=True)
class Cost:
    """What a score is set against."""

    title: str
    unit: str
    """Of the numbers: "%", "s" or "B"."""
    number: Callable[[TableRow], float | None]
    written: Callable[[TableRow], str]


COSTS: dict[Against, Cost] = {
    "parameters": Cost(
        "trainable parameters", "%", lambda row: row.trainable_percent, prose.trainable
    ),
    "time": Cost(
        "training time",
        "s",
        lambda row: row.costs.training_seconds,
        lambda row: costs.seconds(row.costs.training_seconds),
    ),
    "memory": Cost(
        "peak memory",
        "B",
        lambda row: row.costs.peak_memory_bytes,
        lambda row: costs.size(row.costs.peak_memory_bytes),
    ),
    "size": Cost(
        "adapter size",
        "B",
        lambda row: row.costs.adapter_bytes,
        lambda row: costs.size(row.costs.adapter_bytes),
    ),
}


@dataclass(frozen=True)
class TradeOffPoint:
    """A trained method: what it costs, what it scores, and what beats it in both."""

    method: str
    title: str
    cost: float
    """In percent, seconds or bytes; the mean over its runs."""
    cost_text: str
    score: Mean
    on_front: bool
    beaten_by: tuple[str, ...]
    """Titles of those on the front that cost no more and score no less, one of them strictly."""
    reaches_front: bool
    """Whether the better end of its interval is beyond the means of all that beat it."""


@dataclass(frozen=True)
class Reference:
    """What is not trained, and so costs nothing: a level that methods start from."""

    method: str
    title: str
    score: Mean


@dataclass(frozen=True)
class TradeOff:
    """The methods of one table on one backbone, score against cost.

    The scores that are compared are those that are printed; costs are compared as they are.
    """

    subject: Subject
    against: Against
    cost_title: str
    cost_unit: str
    points: tuple[TradeOffPoint, ...]
    """From the cheapest to the dearest."""
    front: tuple[tuple[float, float], ...]
    """Cost and score of the methods on the front, those that the view hides too."""
    references: tuple[Reference, ...]
    settings: tuple[tuple[str, ...], ...]
    """Methods that are settings of one, such as "lora[r=8]" and "lora[r=64]", from the cheapest."""
    missing: tuple[Missing, ...]
    hidden: int
    """Points that the view hides; the front is that of all."""
    notes: tuple[str, ...]
    summary: str
    """The chart in a sentence."""


@dataclass(frozen=True)
class TradeOffPage:
    """The trade-offs of a view, a chart for each table and backbone."""

    choices: Choices
    axes: Axes
    charts: tuple[TradeOff, ...]


def trade_off_page(opened: Opened, asked: View, axes: Axes) -> TradeOffPage:
    """Make the trade-offs of a view.

    Raises:
        ResultsError: There is no such group, backbone or column.
    """
    view = opened.completed(asked)
    made = found(opened, view)
    return TradeOffPage(
        choices=choices(opened, view, made),
        axes=axes,
        charts=tuple(
            trade_off(one, block, axes.against, view)
            for one in charted(opened, made, view, axes.score)
            for block in one.table.blocks
        ),
    )


def trade_off(of: Charted, block: Block, against: Against, view: View) -> TradeOff:
    """Make the trade-off of one block of a table."""
    cost, metric = COSTS[against], of.table.metric
    every = _points(of, block, cost)
    shown = tuple(point for point in every if view.shows(point.method, point.title))
    references = tuple(_references(of, block))
    means = {one.title: one.score for one in every}
    settings = _settings(shown)
    front = FRONT if len(every) > 1 else NOTHING_TO_TRADE if every else ""
    notes = [front, SETTINGS if settings else "", *on_intervals(means)]
    return TradeOff(
        subject=subject(of, block),
        against=against,
        cost_title=cost.title,
        cost_unit=cost.unit,
        points=shown,
        front=tuple((one.cost, one.score.value) for one in every if one.on_front),
        references=references,
        settings=settings,
        missing=_missing(block, of.column, cost),
        hidden=len(every) - len(shown),
        notes=tuple(filter(None, notes)),
        summary=_summary(every, f"{of.column}, {metric.title},", cost.title),
    )


def _points(of: Charted, block: Block, cost: Cost) -> list[TradeOffPoint]:
    """Give the trained methods that have both numbers, from the cheapest to the dearest."""
    metric = of.table.metric
    known = [
        (row, number, mean)
        for row in block.rows
        if (mean := mean_of(metric, cell_of(row, of.column)))
        and row.trained
        and (number := cost.number(row))
    ]
    known.sort(key=lambda one: (one[1], one[0].label))
    beaten = beaten_by([(number, metric.merit(mean.value)) for _, number, mean in known])
    return [
        TradeOffPoint(
            method=of.labels[row.label],
            title=row.label,
            cost=number,
            cost_text=cost.written(row) + " %" * (cost.unit == "%"),
            score=mean,
            on_front=not winners,
            beaten_by=tuple(known[one][0].label for one in winners),
            reaches_front=bool(winners)
            and _reaches(metric, mean, [known[one][2] for one in winners]),
        )
        for (row, number, mean), winners in zip(known, beaten, strict=True)
    ]


def _reaches(metric: Metric, mean: Mean, winners: Sequence[Mean]) -> bool:
    end = mean.low if metric.lower_is_better else mean.high
    best = max(metric.merit(one.value) for one in winners)
    return end is not None and metric.merit(end) > best


def _references(of: Charted, block: Block) -> Iterator[Reference]:
    for row in block.rows:
        mean = mean_of(of.table.metric, cell_of(row, of.column))
        if mean and not row.trained:
            yield Reference(of.labels[row.label], row.label, mean)


def _settings(points: Sequence[TradeOffPoint]) -> tuple[tuple[str, ...], ...]:
    """Group the settings of one method, which differ in what brackets hold."""

    def name(method: str) -> str:
        return method.partition("[")[0]

    by_name = sorted((point.method for point in points), key=name)
    groups = (tuple(own) for _, own in groupby(by_name, key=name))
    return tuple(own for own in groups if len(own) > 1)


def _missing(block: Block, column: str, cost: Cost) -> tuple[Missing, ...]:
    def why(row: TableRow) -> str:
        cell = cell_of(row, column)
        if cell.sample.mean is None:
            return why_missing(cell)
        known = not row.trained or cost.number(row)
        return "" if known else f"no {cost.title} is known"

    rows = [Missing(row.label, told) for row in block.rows if (told := why(row))]
    return (*rows, *(Missing(name, "no run on this backbone") for name in block.absent))


def _summary(points: Sequence[TradeOffPoint], score: str, cost: str) -> str:
    front = [one for one in points if one.on_front]
    named = ", ".join(f"{one.title} ({one.score.text} at {one.cost_text})" for one in front)
    methods = f"{len(points)} method{'s' if len(points) != 1 else ''}"
    told = f"{score} of {methods} against {cost}."
    beaten = len(points) - len(front)
    rest = f" {beaten} {'is' if beaten == 1 else 'are'} beaten in both." if beaten else ""
    return f"{told} On the front: {named}.{rest}" if len(points) > 1 else told
