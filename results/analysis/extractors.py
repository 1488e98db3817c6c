"""The effect of the extractor on the numbers and on the order of the methods."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from results.analysis.columns import PLAIN, columns
from results.analysis.metrics import metric
from results.analysis.ranking import ranks
from results.analysis.series import Comparable, Conditions, Series, comparables, unique
from results.record import Run, Score
from results.statistics.sample import sample

ACCURACY = metric(PLAIN)

AVERAGES = ("micro", "macro")

Means = Mapping[str, float | None]
"""Of each method its mean over seeds, if any seed has the number."""

Read = Mapping[str, Mapping[str, Means]]
"""The means by average or benchmark, and by extractor."""


@dataclass(frozen=True)
class Reading:
    """What one extractor reads, mean over seeds; None where no seed has it."""

    extractor: str
    """With its version, such as "strict/2": what two versions read is never averaged."""
    accuracy: float | None
    """In [0, 1]."""
    rank: int | None
    """1 is the best; what prints equal has the same rank. Only averages are ranked."""
    unparsed: float | None
    """Share of the answers in which the extractor found nothing, in [0, 1]; averaged likewise."""


@dataclass(frozen=True)
class BenchmarkReadings:
    """One method in one average or benchmark under every extractor."""

    benchmark: str
    """Its name, or that of the average."""
    readings: tuple[Reading, ...]
    difference: float | None
    """The largest of the accuracies minus the smallest."""


@dataclass(frozen=True)
class MethodReadings:
    """One method: micro, macro, then its benchmarks."""

    method: str
    seeds: tuple[int, ...]
    benchmarks: tuple[BenchmarkReadings, ...]


@dataclass(frozen=True)
class OrderChange:
    """Two methods of which the first is ahead under some extractors, the second under others."""

    average: str
    methods: tuple[str, str]
    first_ahead: tuple[str, ...]
    second_ahead: tuple[str, ...]


@dataclass(frozen=True)
class ExtractorEffect:
    """The methods on one backbone, under one setting, in one environment."""

    conditions: Conditions
    backbone: str
    folds: tuple[int, ...]
    extractors: tuple[str, ...]
    """The headline one of the protocol first."""
    methods: tuple[MethodReadings, ...]
    changes: tuple[OrderChange, ...]


def extractor_effects(runs: Iterable[Run]) -> list[ExtractorEffect]:
    """Compare the extractors wherever runs have accuracies, the newest conditions first."""
    return [
        _effect(comparable, backbone, [one for one in family if one.by_seed])
        for comparable in comparables(runs)
        if any(PLAIN in run.metrics for run in comparable.runs)
        for backbone, family in comparable.backbones.items()
        if any(one.by_seed for one in family)
    ]


def _effect(comparable: Comparable, backbone: str, family: Sequence[Series]) -> ExtractorEffect:
    extractors = _extractors(comparable.runs)
    right = _read(lambda score: score.value, extractors, family, comparable)
    unparsed = _read(lambda score: score.unparsed / score.n, extractors, family, comparable)
    return ExtractorEffect(
        conditions=comparable.conditions,
        backbone=backbone,
        folds=tuple(fold for fold in comparable.folds if fold is not None),
        extractors=extractors,
        methods=tuple(_method(series, right, unparsed) for series in family),
        changes=tuple(change for name in AVERAGES for change in _changes(name, right[name])),
    )


def _extractors(runs: Sequence[Run]) -> tuple[str, ...]:
    headline = [one.read_by for run in runs for one in run.headline(PLAIN).values()]
    every = [one.read_by for run in runs for one in run.scores if one.metric == PLAIN]
    return unique([headline, every])


def _read(
    value: Callable[[Score], float],
    extractors: Sequence[str],
    family: Sequence[Series],
    comparable: Comparable,
) -> Read:
    shown = columns(ACCURACY, comparable.runs, clean=False)

    def means(name: str, read: Sequence[Series]) -> Means:
        def number(run: Run) -> float | None:
            return shown.numbers(run).get(name)

        return {one.method: sample(one.averages(comparable.folds, number)).mean for one in read}

    by_extractor = {
        extractor: [_as_headline(extractor, value, series) for series in family]
        for extractor in extractors
    }
    return {
        name: {extractor: means(name, read) for extractor, read in by_extractor.items()}
        for name in (*AVERAGES, *shown.benchmarks)
    }


def _as_headline(extractor: str, value: Callable[[Score], float], series: Series) -> Series:
    """Give a method as if the protocol named this extractor, and `value` were the accuracy."""

    def changed(run: Run) -> Run:
        chosen = (one for one in run.scores if (one.metric, one.read_by) == (PLAIN, extractor))
        scores = tuple(replace(one, headline=True, value=value(one)) for one in chosen)
        return replace(run, scores=scores)

    by_seed = {
        seed: {fold: changed(run) for fold, run in by_fold.items()}
        for seed, by_fold in series.by_seed.items()
    }
    return replace(series, by_seed=by_seed)


def _method(series: Series, right: Read, unparsed: Read) -> MethodReadings:
    lines = (_readings(name, series.method, right[name], unparsed[name]) for name in right)
    return MethodReadings(series.method, tuple(series.by_seed), tuple(lines))


def _readings(
    name: str, method: str, right: Mapping[str, Means], unparsed: Mapping[str, Means]
) -> BenchmarkReadings:
    readings = tuple(
        Reading(
            extractor,
            means[method],
            _rank(means, method) if name in AVERAGES else None,
            unparsed[extractor][method],
        )
        for extractor, means in right.items()
    )
    found = [reading.accuracy for reading in readings if reading.accuracy is not None]
    return BenchmarkReadings(name, readings, max(found) - min(found) if found else None)


def _rank(means: Means, method: str) -> int | None:
    numbers = {name: mean for name, mean in means.items() if mean is not None}
    return ranks(ACCURACY, numbers).get(method)


def _changes(average: str, right: Mapping[str, Means]) -> Iterator[OrderChange]:
    methods = next(iter(right.values()))
    for first, second in combinations(methods, 2):
        ahead = tuple(name for name, means in right.items() if _ahead(means, first, second))
        behind = tuple(name for name, means in right.items() if _ahead(means, second, first))
        if ahead and behind:
            yield OrderChange(average, (first, second), ahead, behind)


def _ahead(means: Means, first: str, second: str) -> bool:
    a, b = means[first], means[second]
    return a is not None and b is not None and ACCURACY.points(a) > ACCURACY.points(b)
