"""Two methods side by side: the difference of their means, and what chance allows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp

from results import caption
from results.errors import ResultsError, unknown
from results.grid import grid
from results.metrics import Metric
from results.record import Run
from results.selection import Conditions
from results.standing import Cell
from results.statistics.sample import Sample
from results.statistics.test import ALPHA, Test, Undefined
from results.table import Block, Row, Table, tables

INTERVAL = f"{100 * (1 - ALPHA):g} % interval"


@dataclass(frozen=True)
class Contrast:
    """One benchmark or average; the difference is of the first method minus the second.

    The difference is of the means as they are; the test is of logarithms where the metric says so.
    """

    column: str
    first: Sample
    second: Sample
    difference: float | None
    test: Test | Undefined


@dataclass(frozen=True)
class Comparison:
    """Two methods on one backbone, under one setting, in one environment, in one metric."""

    methods: tuple[str, str]
    conditions: Conditions
    metric: Metric
    folds: tuple[int, ...]
    backbone: str
    contrasts: tuple[Contrast, ...]
    notes: tuple[str, ...]


def compare(runs: Sequence[Run], first: str, second: str) -> list[Comparison]:
    """Compare two methods wherever both have finished runs that may be compared."""
    known = {run.method for run in runs if run.status == "finished"}
    faults = [
        unknown("finished run of", name, known) for name in (first, second) if name not in known
    ]
    if faults:
        raise ResultsError("\n".join(faults))
    if first == second:
        raise ResultsError(f"{first!r} cannot be compared with itself. Please name two methods.")
    # In a table of these two alone, the best other method of each is the other.
    chosen = tables(run for run in runs if run.method in (first, second))
    found = [one for table in chosen for one in _comparisons(table, first, second)]
    if not found:
        raise ResultsError(
            f"{first!r} and {second!r} have no finished runs on the same backbone with the same "
            "settings and environment.\n  `harness history` lists all runs."
        )
    return found


def markdown(comparisons: Sequence[Comparison]) -> str:
    """Write comparisons one below the other."""
    return "\n\n".join(map(_section, comparisons))


def _comparisons(table: Table, first: str, second: str) -> Iterator[Comparison]:
    for block in table.blocks:
        rows = {row.method: row for row in block.rows}
        if len(rows) > 1:
            yield _comparison(table, block, rows[first], rows[second])


def _comparison(table: Table, block: Block, first: Row, second: Row) -> Comparison:
    pairs = zip(first.cells, second.cells, strict=True)
    notes = [f"{row.method}: {note}." for row in (first, second) for note in row.notes]
    return Comparison(
        methods=(first.method, second.method),
        conditions=table.conditions,
        metric=table.metric,
        folds=table.folds,
        backbone=block.backbone,
        contrasts=tuple(_contrast(a, b) for a, b in pairs),
        notes=(*notes, *caption.mixed(table)),
    )


def _contrast(first: Cell, second: Cell) -> Contrast:
    a, b = first.sample.mean, second.sample.mean
    difference = None if a is None or b is None else a - b
    return Contrast(first.column, first.sample, second.sample, difference, first.test)


def _section(one: Comparison) -> str:
    first, second = one.methods
    interval = f"{INTERVAL} of the ratio" if one.metric.logarithm else INTERVAL
    header = ["", first, second, "difference", interval, "p", "seeds"]
    lines = [
        f"{first} minus {second} on {one.backbone}: {caption.subject(one.conditions)}, "
        f"{caption.quantity(one.metric, one.folds)}.",
        caption.marks(one.conditions),
        grid(header, (_line(one.metric, each) for each in one.contrasts), align="lrrrrrr"),
        f"p: {caption.test(one.metric)}.",
        *one.notes,
        caption.environment(one.conditions),
    ]
    return "\n\n".join(filter(None, lines))


def _line(metric: Metric, contrast: Contrast) -> list[str]:
    first, second = contrast.first, contrast.second
    means = [caption.printed(metric, first), caption.printed(metric, second)]
    seeds = f"{len(first.by_seed)}, {len(second.by_seed)}"
    return [contrast.column, *means, *_difference(metric, contrast), seeds]


def _difference(metric: Metric, contrast: Contrast) -> tuple[str, str, str]:
    value = contrast.difference
    difference = "-" if value is None else f"{metric.points(value):+.2f}"
    if isinstance(contrast.test, Undefined):
        return difference, "-", contrast.test.reason
    return difference, _interval(metric, *contrast.test.interval), f"{contrast.test.p:.3g}"


def _interval(metric: Metric, low: float, high: float) -> str:
    if metric.logarithm:  # a difference of logarithms is the logarithm of a ratio
        return f"{exp(low):.3f} to {exp(high):.3f}"
    return f"{metric.points(low):+.2f} to {metric.points(high):+.2f}"
