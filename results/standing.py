"""Who is best in one column, who is second, and whether the best is so beyond chance."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from results.metrics import Metric
from results.statistics.sample import Sample
from results.statistics.test import Test, Undefined
from results.statistics.welch import welch

Standing = Literal["best", "second", ""]


@dataclass(frozen=True)
class Cell:
    """One method in one column: its sample, its standing, its test against the best other method.

    The cell is complete when it has a number for every seed that must have one.
    """

    column: str
    sample: Sample
    complete: bool
    standing: Standing
    starred: bool
    """Whether this is the best, and better than every other method beyond chance."""
    test: Test | Undefined
    """Of this method minus the best other; on the logarithm where the metric says so."""


def cells(
    metric: Metric, column: str, samples: Mapping[str, Sample], seeds: frozenset[int]
) -> dict[str, Cell]:
    """Judge the methods of one column; `seeds` are those that must have a number in it."""
    means = {name: one.mean for name, one in samples.items() if one.mean is not None}
    standings = standing(metric, means)
    found = {}
    for name, own in samples.items():
        place = standings.get(name, "")
        test = _test(metric, own, _best_other(metric, name, samples), seeds)
        starred = place == "best" and _better(metric, test)
        found[name] = Cell(column, own, seeds == own.by_seed.keys(), place, starred, test)
    return found


def withheld(cell: Cell, reason: str) -> Cell:
    """Take mark and test from a cell, whose number stays."""
    return replace(cell, standing="", starred=False, test=Undefined(reason))


def standing(metric: Metric, means: Mapping[str, float]) -> dict[str, Standing]:
    """Name the best and the second; equals share a place, and two best leave no second.

    A method alone is not the best of anything.

    >>> from results.metrics import metric
    >>> means = {"dypam": 0.83, "lora": 0.80, "vera": 0.80, "full": 0.7}
    >>> standing(metric("accuracy"), means)
    {'dypam': 'best', 'lora': 'second', 'vera': 'second', 'full': ''}
    >>> standing(metric("perplexity"), means)
    {'dypam': '', 'lora': 'second', 'vera': 'second', 'full': 'best'}
    """
    shown = {name: metric.points(mean) for name, mean in means.items()}
    ranked = sorted(shown.values(), key=metric.merit, reverse=True)
    places: dict[float, Standing] = {}
    if len(ranked) > 1:
        places = {ranked[1]: "second", ranked[0]: "best"}
    return {name: places.get(points, "") for name, points in shown.items()}


def _test(
    metric: Metric, own: Sample, other: Sample | None, seeds: frozenset[int]
) -> Test | Undefined:
    if other is None:
        return Undefined("no other method")
    if not seeds == own.by_seed.keys() == other.by_seed.keys():
        return Undefined("seeds are missing")
    first, second = (list(map(metric.tested, one.by_seed.values())) for one in (own, other))
    return welch(first, second)


def _best_other(metric: Metric, name: str, samples: Mapping[str, Sample]) -> Sample | None:
    means = {
        other: metric.merit(one.mean)
        for other, one in samples.items()
        if other != name and one.mean is not None
    }
    return samples[max(means, key=means.__getitem__)] if means else None


def _better(metric: Metric, test: Test | Undefined) -> bool:
    return isinstance(test, Test) and test.significant and metric.merit(test.difference) > 0
