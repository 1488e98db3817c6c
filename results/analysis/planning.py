"""How many seeds or items a difference needs, from the spread of the runs that there are."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

import numpy as np

from results.analysis.columns import Columns
from results.analysis.metrics import Metric
from results.analysis.runs.selection import is_of, require_finished
from results.analysis.series import Comparable, Conditions, Series, comparables
from results.analysis.table import column_sets, source_of
from results.analysis.testing.answers import Judged
from results.analysis.testing.evidence import Source
from results.analysis.testing.tests import Testing
from results.record import Run
from results.statistics.items.verdicts import Average, Floats, Items, differences
from results.statistics.planning import Needed, items_needed, seeds_needed
from results.statistics.sample import sample
from results.statistics.test import Undefined

RATIO = Undefined("a difference in points is none of a ratio", withheld=True)


@dataclass(frozen=True)
class Need:
    """What one benchmark or average needs for the difference to be found."""

    column: str
    sd: float | None
    """Over seeds, the root of the mean variance of the methods with several; None without any."""
    seeds: Needed | Undefined
    """Of each of two methods, on these items."""
    items: Needed | Undefined
    """For two trained models, from the pair whose items differ most."""
    items_now: int | None
    """How many items it has; None without stored verdicts."""


@dataclass(frozen=True)
class Plan:
    """What a difference needs on one backbone, under one setting, in one metric."""

    conditions: Conditions
    metric: Metric
    backbone: str
    delta: float
    """In points."""
    methods: tuple[str, ...]
    """The trained ones, from whose runs the spread is taken."""
    seeds_now: tuple[int, ...]
    """How many seeds each of them has."""
    needs: tuple[Need, ...]


def plan(runs: Sequence[Run], methods: Sequence[str], delta: float, testing: Testing) -> list[Plan]:
    """Say what a difference of `delta` points, above 0, needs, wherever there are trained methods.

    The spread is that of the named methods, or of all. Verdicts are looked up as `testing` says.

    Raises:
        ResultsError: A named method has no finished run.
    """
    require_finished(runs, *methods)
    named = [run for run in runs if not methods or any(is_of(run, name) for name in methods)]
    return [
        _plan(one, shown, backbone, trained, delta, testing)
        for one in comparables(named)
        for shown in column_sets(one)
        for backbone, family in one.backbones.items()
        if (trained := [series for series in family if series.trained and series.by_seed])
    ]


def _plan(
    one: Comparable,
    shown: Columns,
    backbone: str,
    trained: Sequence[Series],
    delta: float,
    testing: Testing,
) -> Plan:
    source = source_of(one, shown, testing)
    return Plan(
        conditions=one.conditions,
        metric=shown.metric,
        backbone=backbone,
        delta=delta,
        methods=tuple(series.label for series in trained),
        seeds_now=tuple(len(series.by_seed) for series in trained),
        needs=tuple(_need(source, trained, name, delta) for name in shown.names),
    )


def _need(source: Source, trained: Sequence[Series], column: str, delta: float) -> Need:
    samples = [list(source.by_seed(series, column).values()) for series in trained]
    spreads = [sample(dict(enumerate(one))).sd for one in samples]
    squares = [sd**2 for sd in spreads if sd is not None]
    metric = source.columns.metric
    found = [source.evidence(series, column) for series in trained]
    judged = [one for evidence in found if isinstance(one := evidence.judged(), Judged)]
    points = delta / metric.points(1)
    return Need(
        column=column,
        sd=fmean(squares) ** 0.5 if squares else None,
        seeds=RATIO if metric.logarithm else seeds_needed(points, samples),
        items=_items(judged, found[0].average, points),
        items_now=_size(judged[0]) if judged else None,
    )


def _items(judged: Sequence[Judged], average: Average, delta: float) -> Needed | Undefined:
    """Take the pair of single runs whose items differ most."""
    if average == "macro":
        return Undefined("items of a macro average are planned benchmark by benchmark")
    single = [({name: _first(of) for name, of in one.answers.items()}, one.rows) for one in judged]
    pairs = [
        differences(a, b, average)[0].sums[0]
        for (a, rows), (b, others) in combinations(single, 2)
        if rows == others
    ]
    if not pairs:
        return Undefined("no two methods with stored verdicts of the same items")
    return items_needed(delta, max(pairs, key=_variance).tolist())


def _first(items: Items) -> Items:
    return Items(items.seeds[:1], items.values[:1], items.clusters)


def _variance(values: Floats) -> float:
    return float(np.var(values))


def _size(judged: Judged) -> int:
    return sum(items.values.shape[1] for items in judged.answers.values())
