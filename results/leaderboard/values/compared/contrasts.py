"""A comparison of two as a page shows it: differences drawn around zero and said in words."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote
from typing import Literal

from results.analysis.metrics import Metric
from results.analysis.pairwise import ONE_SEED, Comparison, Contrast, Exchanged
from results.analysis.testing.evidence import Interval
from results.analysis.testing.tests import named
from results.leaderboard.values.compared.outcomes import Outcome, direction, outcome, words
from results.reports import pairwise as written
from results.reports import prose
from results.reports.sheets.shown import AVERAGES
from results.reports.sheets.titles import method_title
from results.reports.testing import impossible, listed
from results.statistics.sample import Sample
from results.statistics.test import Test, Undefined

ADJUSTED = "p is of this pair alone; adjusted p (Holm) is among all pairs of its table."
NOT_MADE = Undefined("not made here")


Over = Literal["seeds", "seeds and items", "items"]
"""What a test is over."""

SEEDS: Over = "seeds"
ITEMS: Over = "items"
EVERY: tuple[Over, ...] = ("seeds", "seeds and items", "items")

HEADS: Mapping[Over, str] = {
    "seeds": "Over seeds",
    "seeds and items": "New seeds and items",
    "items": "New items alone",
}

NO_TITLES: Mapping[str, str] = {}

NOT_HERE = "Tests over new items are not made here: `harness compare {} {}` makes them."


@dataclass(frozen=True)
class MeanValue:
    """A method in a column."""

    text: str
    """The mean; a dash without one."""
    interval: str
    """At 95 %; empty without one."""
    over: str
    """What the interval is over: "seeds", or of one run "items"."""
    seeds: int


@dataclass(frozen=True)
class DifferenceBar:
    """A difference and its interval on a line from -100 to 100, on which 0 is no difference."""

    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class ContrastValue:
    """One benchmark or average; differences are of the first minus the second."""

    column: str
    average: bool
    first: MeanValue
    second: MeanValue
    difference: str
    words: str
    """Whether the first is higher or lower, and whether a test tells the two apart."""
    direction: str
    """The same as a whole sentence, with the size of the difference."""
    seeds: Outcome
    """For new training runs."""
    crossed: Outcome
    """For new training runs and new items."""
    items: Outcome
    """For new items and these trained models."""
    exchanged: Exchanged | None
    """Items that the first answers right in more of its runs, and in fewer; None if unknown."""
    bar: DifferenceBar | None
    """Of the test over seeds, or where there is none of that over items."""


@dataclass(frozen=True)
class ComparisonValue:
    """Two that agree in all but what they are compared in, in one metric."""

    title: str
    methods: tuple[str, str]
    backbone: str
    """Empty where the two are on different ones, which the names then say."""
    protocol: str
    metric: str
    marks: tuple[str, ...]
    contrasts: tuple[ContrastValue, ...]
    reach: tuple[str, str] | None
    """The differences at the ends of the bars; None without bars."""
    summary: str
    """The first average, or else the first benchmark, in a sentence."""
    explained: tuple[str, ...]
    """Which tests were made, which could find nothing, and which were not made, and why."""
    remarks: tuple[str, ...]
    """The worst benchmark of each, the spread by seeds and by items, notes of both."""
    flags: tuple[str, ...]
    environment: str


def comparison_value(
    named: Comparison,
    adjusted: Mapping[str, float],
    over: Sequence[Over] = EVERY,
    titles: Mapping[str, str] = NO_TITLES,
) -> ComparisonValue:
    """Give a comparison as a page shows it.

    Args:
        named: The comparison.
        adjusted: The p of the tests over seeds, adjusted for all pairs of their table, by column.
        over: Which tests it has; with items alone, two trained models are compared.
        titles: What papers call groups, methods and benchmarks.
    """
    one = _titled(named, titles)
    adjusted = {titles.get(name, name): p for name, p in adjusted.items()}
    shown = [_tested(contrast, over) for contrast in written.contrasts(one)]
    reach = max((abs(end) for contrast in shown for end in _ends(contrast)), default=0.0)
    ends = [written.written_end(one.metric, end) for end in (-reach, reach)]
    values = tuple(
        _contrast(one, contrast, adjusted.get(contrast.column), reach) for contrast in shown
    )
    first = next((value for value in values if value.average), values[0])
    remarks = (*written.worst(one, shown), *written.spread(one, shown)) if SEEDS in over else ()
    return ComparisonValue(
        title=f"{prose.subject(one.conditions)}, {prose.quantity(one.metric.title, one.folds)}",
        methods=one.methods,
        backbone=one.backbone,
        protocol=one.conditions.protocol,
        metric=one.metric.name,
        marks=one.conditions.marks,
        contrasts=values,
        reach=(ends[0], ends[1]) if reach else None,
        summary=first.direction,
        explained=tuple(_explained(named, shown, over, bool(adjusted))),
        remarks=(*remarks, *one.notes, *prose.several_signatures(one.signatures)),
        flags=one.flags,
        environment=prose.environment(one.conditions),
    )


def _titled(one: Comparison, titles: Mapping[str, str]) -> Comparison:
    """Call group, methods and benchmarks by their titles."""

    def of(name: str) -> str:
        return titles.get(name, name)

    first, second = one.methods
    return replace(
        one,
        methods=(method_title(first, titles), method_title(second, titles)),
        conditions=replace(one.conditions, group=of(one.conditions.group)),
        contrasts=tuple(replace(each, column=of(each.column)) for each in one.contrasts),
        worst=(one.worst[0] and of(one.worst[0]), one.worst[1] and of(one.worst[1])),
    )


def _tested(contrast: Contrast, over: Sequence[Over]) -> Contrast:
    """Leave out the tests that are not made."""
    if ITEMS in over:
        return contrast if SEEDS in over else replace(contrast, test=NOT_MADE, crossed=NOT_MADE)
    one_seed = min(len(one.by_seed) for one in (contrast.first, contrast.second)) == 1
    test = Undefined(ONE_SEED) if one_seed else contrast.test
    return replace(contrast, test=test, crossed=NOT_MADE, items=NOT_MADE)


def _explained(
    one: Comparison, shown: Sequence[Contrast], over: Sequence[Over], is_adjusted: bool
) -> Iterator[str]:
    """Say which tests were made, which could find nothing, and which were not made."""
    tests: Mapping[Over, Mapping[str, Test | Undefined]] = {
        "seeds": {contrast.column: contrast.test for contrast in shown},
        "seeds and items": {contrast.column: contrast.crossed for contrast in shown},
        "items": {contrast.column: contrast.items for contrast in shown},
    }
    for kind in over:
        if made := named(tests[kind].items()):
            yield f"{HEADS[kind]}: {listed(one.metric, made)}."
        yield from _impossible(tests[kind])
        yield from written.not_made(HEADS[kind], tests[kind])
    if is_adjusted:
        yield ADJUSTED
    if ITEMS not in over:
        yield NOT_HERE.format(*map(quote, one.methods))


def _impossible(tests: Mapping[str, Test | Undefined]) -> Iterator[str]:
    for column, test in tests.items():
        if isinstance(test, Test) and (why := impossible(test)):
            yield f"{column}: {test.name} {why}."


def _contrast(
    one: Comparison, contrast: Contrast, adjusted: float | None, reach: float
) -> ContrastValue:
    metric = one.metric
    seeds = outcome(metric, contrast.test, adjusted)
    items = outcome(metric, contrast.items)
    told = seeds if seeds.name else items
    return ContrastValue(
        column=contrast.column,
        average=contrast.column in AVERAGES,
        first=_mean(metric, contrast.first, contrast.intervals[0]),
        second=_mean(metric, contrast.second, contrast.intervals[1]),
        difference=written.written_points(metric, contrast.difference),
        words=words(metric, contrast.difference, told),
        direction=direction(one, contrast, told),
        seeds=seeds,
        crossed=outcome(metric, contrast.crossed),
        items=items,
        exchanged=contrast.exchanged,
        bar=_bar(contrast, reach),
    )


def _mean(metric: Metric, sample: Sample, around: Interval | None) -> MeanValue:
    return MeanValue(
        text=prose.mean(metric, sample, spread=False),
        interval=prose.interval(metric, around),
        over=around.over if around else "",
        seeds=len(sample.by_seed),
    )


def _drawn(contrast: Contrast) -> Test | None:
    made = (test for test in (contrast.test, contrast.items) if isinstance(test, Test))
    return next(made, None)


def _ends(contrast: Contrast) -> Sequence[float]:
    test = _drawn(contrast)
    return (test.difference, *(test.interval or ())) if test else ()


def _bar(contrast: Contrast, reach: float) -> DifferenceBar | None:
    test = _drawn(contrast)
    if test is None or not test.interval or not reach:
        return None
    low, high = test.interval
    return DifferenceBar(*(round(100 * end / reach, 1) for end in (low, test.difference, high)))
