"""What the choice of the extractor does: to the numbers, and to the order of the methods."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from results import caption
from results.averages import micro
from results.columns import PLAIN, columns
from results.grid import grid
from results.metrics import metric
from results.record import Run, Score
from results.selection import Conditions, Series, Shelf, shelves, united
from results.statistics import sample

ACCURACY = metric(PLAIN)

Means = Mapping[str, float | None]
"""Of each method its mean over seeds, if any seed has the number."""


@dataclass(frozen=True)
class Reading:
    """One method as one extractor reads it, mean over seeds; None where no seed has it."""

    extractor: str
    micro: float | None
    """In [0, 1]."""
    rank: int | None
    """1 is the best; what prints equal has the same rank."""
    unparsed: float | None
    """Share of the answers in which the extractor found nothing, in [0, 1]."""


@dataclass(frozen=True)
class MethodSpread:
    """One method under every extractor, and the largest of its accuracies minus the smallest."""

    method: str
    seeds: tuple[int, ...]
    readings: tuple[Reading, ...]
    difference: float | None


@dataclass(frozen=True)
class Change:
    """Two methods of which the first is ahead under some extractors, the second under others."""

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
    micros = {name: _means(micro, name, family, shelf) for name in extractors}
    unparsed = {name: _means(_unparsed, name, family, shelf) for name in extractors}
    return Spread(
        conditions=shelf.conditions,
        backbone=backbone,
        folds=tuple(fold for fold in shelf.folds if fold is not None),
        extractors=extractors,
        methods=tuple(_method(series, micros, unparsed) for series in family),
        changes=tuple(_changes([series.method for series in family], micros)),
    )


def _extractors(runs: Sequence[Run]) -> tuple[str, ...]:
    headline = [one.extractor for run in runs for one in run.headline(PLAIN).values()]
    every = [one.extractor for run in runs for one in run.scores if one.metric == PLAIN]
    return united([headline, every])


def _means(
    pooled: Callable[[Sequence[Score]], float],
    extractor: str,
    family: Sequence[Series],
    shelf: Shelf,
) -> Means:
    """Give the mean over seeds of what one extractor says of all benchmarks together."""
    benchmarks = columns(ACCURACY, shelf.runs, clean=False).benchmarks

    def number(run: Run) -> float | None:
        scores = [one for one in run.scores if (one.metric, one.extractor) == (PLAIN, extractor)]
        return pooled(scores) if len(scores) == len(benchmarks) else None

    return {series.method: sample(series.averages(shelf.folds, number)).mean for series in family}


def _unparsed(scores: Sequence[Score]) -> float:
    return sum(score.unparsed for score in scores) / sum(score.n for score in scores)


def _method(
    series: Series, micros: Mapping[str, Means], unparsed: Mapping[str, Means]
) -> MethodSpread:
    name = series.method
    readings = tuple(
        Reading(extractor, means[name], _rank(means, name), unparsed[extractor][name])
        for extractor, means in micros.items()
    )
    found = [reading.micro for reading in readings if reading.micro is not None]
    difference = max(found) - min(found) if found else None
    return MethodSpread(name, tuple(series.by_seed), readings, difference)


def _rank(means: Means, method: str) -> int | None:
    if means[method] is None:
        return None
    return 1 + sum(_ahead(means, other, method) for other in means)


def _changes(methods: Sequence[str], micros: Mapping[str, Means]) -> Iterator[Change]:
    for first, second in combinations(methods, 2):
        ahead = tuple(name for name, means in micros.items() if _ahead(means, first, second))
        behind = tuple(name for name, means in micros.items() if _ahead(means, second, first))
        if ahead and behind:
            yield Change((first, second), ahead, behind)


def _ahead(means: Means, first: str, second: str) -> bool:
    a, b = means[first], means[second]
    return a is not None and b is not None and ACCURACY.points(a) > ACCURACY.points(b)


def _section(one: Spread) -> str:
    header = [title for name in one.extractors for title in (name, "rank", "unparsed %")]
    align = "lr" + "rrr" * len(one.extractors) + "r"
    quantity = caption.quantity(ACCURACY, one.folds)
    lines = [
        f"{one.backbone}: {caption.subject(one.conditions)}, {quantity}, micro, mean over seeds, "
        f"as each extractor reads the answers; {one.extractors[0]} is that of the protocol.",
        caption.marks(one.conditions),
        grid(["method", "seeds", *header, "difference"], map(_line, one.methods), align),
        *map(_sentence, one.changes),
        "" if one.changes else "No two methods change their order between the extractors.",
        caption.environment(one.conditions),
    ]
    return "\n\n".join(filter(None, lines))


def _line(one: MethodSpread) -> list[str]:
    cells = [cell for reading in one.readings for cell in _cells(reading)]
    return [one.method, str(len(one.seeds)), *cells, _printed(one.difference)]


def _cells(reading: Reading) -> list[str]:
    return [_printed(reading.micro), str(reading.rank or "-"), _printed(reading.unparsed)]


def _printed(share: float | None) -> str:
    return "-" if share is None else f"{ACCURACY.points(share):.2f}"


def _sentence(change: Change) -> str:
    first, second = change.methods
    return (
        f"{first} is ahead of {second} under {', '.join(change.first_ahead)}, "
        f"but behind it under {', '.join(change.second_ahead)}."
    )
