"""What the choice of the extractor does: to the numbers, and to the order of the methods."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from results import caption
from results.columns import PLAIN, columns
from results.grid import grid
from results.metrics import metric
from results.record import Run, Score
from results.selection import Conditions, Series, Shelf, shelves, united
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
    accuracy: float | None
    """In [0, 1]."""
    rank: int | None
    """1 is the best; what prints equal has the same rank. Only averages are ranked."""
    unparsed: float | None
    """Share of the answers in which the extractor found nothing, in [0, 1]; averaged likewise."""


@dataclass(frozen=True)
class Line:
    """One method in one average or benchmark under every extractor."""

    benchmark: str
    """Its name, or that of the average."""
    readings: tuple[Reading, ...]
    difference: float | None
    """The largest of the accuracies minus the smallest."""


@dataclass(frozen=True)
class MethodSpread:
    """One method: micro, macro, then its benchmarks."""

    method: str
    seeds: tuple[int, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Change:
    """Two methods of which the first is ahead under some extractors, the second under others."""

    average: str
    methods: tuple[str, str]
    first_ahead: tuple[str, ...]
    second_ahead: tuple[str, ...]


@dataclass(frozen=True)
class Spread:
    """The methods on one backbone, under one setting, in one environment."""

    conditions: Conditions
    backbone: str
    folds: tuple[int, ...]
    extractors: tuple[str, ...]
    """The headline one of the protocol first."""
    methods: tuple[MethodSpread, ...]
    changes: tuple[Change, ...]


def spread(runs: Iterable[Run]) -> list[Spread]:
    """Compare the extractors wherever runs have accuracies, the newest conditions first."""
    return [
        _spread(shelf, backbone, family)
        for shelf in shelves(runs)
        if any(PLAIN in run.metrics for run in shelf.runs)
        for backbone, family in shelf.backbones.items()
    ]


def markdown(spreads: Sequence[Spread]) -> str:
    """Write a table for each backbone, and below it which methods change their order."""
    return "\n\n".join(map(_section, spreads))


def _spread(shelf: Shelf, backbone: str, family: Sequence[Series]) -> Spread:
    extractors = _extractors(shelf.runs)
    right = _read(lambda score: score.value, extractors, family, shelf)
    unparsed = _read(lambda score: score.unparsed / score.n, extractors, family, shelf)
    return Spread(
        conditions=shelf.conditions,
        backbone=backbone,
        folds=tuple(fold for fold in shelf.folds if fold is not None),
        extractors=extractors,
        methods=tuple(_method(series, right, unparsed) for series in family),
        changes=tuple(change for name in AVERAGES for change in _changes(name, right[name])),
    )


def _extractors(runs: Sequence[Run]) -> tuple[str, ...]:
    headline = [one.extractor for run in runs for one in run.headline(PLAIN).values()]
    every = [one.extractor for run in runs for one in run.scores if one.metric == PLAIN]
    return united([headline, every])


def _read(
    value: Callable[[Score], float],
    extractors: Sequence[str],
    family: Sequence[Series],
    shelf: Shelf,
) -> Read:
    shown = columns(ACCURACY, shelf.runs, clean=False)

    def means(name: str, read: Sequence[Series]) -> Means:
        def number(run: Run) -> float | None:
            return shown.numbers(run).get(name)

        return {one.method: sample(one.averages(shelf.folds, number)).mean for one in read}

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
        chosen = (one for one in run.scores if (one.metric, one.extractor) == (PLAIN, extractor))
        scores = tuple(replace(one, headline=True, value=value(one)) for one in chosen)
        return replace(run, scores=scores)

    by_seed = {
        seed: {fold: changed(run) for fold, run in by_fold.items()}
        for seed, by_fold in series.by_seed.items()
    }
    return replace(series, by_seed=by_seed)


def _method(series: Series, right: Read, unparsed: Read) -> MethodSpread:
    lines = (_line(name, series.method, right[name], unparsed[name]) for name in right)
    return MethodSpread(series.method, tuple(series.by_seed), tuple(lines))


def _line(
    name: str, method: str, right: Mapping[str, Means], unparsed: Mapping[str, Means]
) -> Line:
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
    return Line(name, readings, max(found) - min(found) if found else None)


def _rank(means: Means, method: str) -> int | None:
    if means[method] is None:
        return None
    return 1 + sum(_ahead(means, other, method) for other in means)


def _changes(average: str, right: Mapping[str, Means]) -> Iterator[Change]:
    methods = next(iter(right.values()))
    for first, second in combinations(methods, 2):
        ahead = tuple(name for name, means in right.items() if _ahead(means, first, second))
        behind = tuple(name for name, means in right.items() if _ahead(means, second, first))
        if ahead and behind:
            yield Change(average, (first, second), ahead, behind)


def _ahead(means: Means, first: str, second: str) -> bool:
    a, b = means[first], means[second]
    return a is not None and b is not None and ACCURACY.points(a) > ACCURACY.points(b)


def _section(one: Spread) -> str:
    titles = [title for name in one.extractors for title in (name, "rank", "unparsed %")]
    header = ["method", "seeds", "benchmark", *titles, "difference"]
    align = "lrl" + "rrr" * len(one.extractors) + "r"
    quantity = caption.quantity(ACCURACY, one.folds)
    cells = (_cells(method, line) for method in one.methods for line in method.lines)
    lines = [
        f"{one.backbone}: {caption.subject(one.conditions)}, {quantity}, mean over seeds, "
        f"as each extractor reads the answers; {one.extractors[0]} is that of the protocol.",
        caption.marks(one.conditions),
        grid(header, cells, align),
        *map(_sentence, one.changes),
        "" if one.changes else "No two methods change their order between the extractors.",
        caption.environment(one.conditions),
    ]
    return "\n\n".join(filter(None, lines))


def _cells(method: MethodSpread, line: Line) -> list[str]:
    readings = [cell for reading in line.readings for cell in _reading(reading)]
    seeds = str(len(method.seeds))
    return [method.method, seeds, line.benchmark, *readings, _printed(line.difference)]


def _reading(reading: Reading) -> list[str]:
    return [_printed(reading.accuracy), str(reading.rank or "-"), _printed(reading.unparsed)]


def _printed(share: float | None) -> str:
    return "-" if share is None else f"{ACCURACY.points(share):.2f}"


def _sentence(change: Change) -> str:
    first, second = change.methods
    return (
        f"In {change.average}, {first} is ahead of {second} under "
        f"{', '.join(change.first_ahead)}, but behind it under {', '.join(change.second_ahead)}."
    )
