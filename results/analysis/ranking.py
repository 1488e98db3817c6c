"""Rank the methods of one column, and test whether the best is significantly better."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from results.analysis.metrics import Metric
from results.statistics.sample import Sample
from results.statistics.test import Test, Undefined
from results.statistics.welch import welch


@dataclass(frozen=True)
class Cell:
    """One method in one column: its sample, its rank, its test against the best other method."""

    column: str
    sample: Sample
    complete: bool
    """Whether it has a number for every seed that must have one."""
    rank: int | None
    """1 is the best, equals share a rank; None without a number, or with nothing to rank against.
    """
    significantly_best: bool
    """Whether it ranks first and its test against the best other method is significant."""
    test: Test | Undefined
    """Of this method minus the best other; on the logarithm where the metric says so."""


def cells(
    metric: Metric,
    column: str,
    samples: Mapping[str, Sample],
    seeds: frozenset[int],
    family: str = "",
) -> dict[str, Cell]:
    """Rank and test the methods of one column; `seeds` must have a number in it."""
    means = {name: one.mean for name, one in samples.items() if one.mean is not None}
    ranked = ranks(metric, means) if len(means) > 1 else {}
    made = {}
    for name, own in samples.items():
        test = _test(metric, own, _best_other(metric, name, samples), seeds, family)
        made[name] = Cell(
            column=column,
            sample=own,
            complete=seeds == own.by_seed.keys(),
            rank=ranked.get(name),
            significantly_best=ranked.get(name) == 1 and _better(metric, test),
            test=test,
        )
    return made


def unranked(cell: Cell, reason: str) -> Cell:
    """Remove rank and test from a cell, which keeps its number."""
    return replace(cell, rank=None, significantly_best=False, test=Undefined(reason))


def ranks(metric: Metric, means: Mapping[str, float]) -> dict[str, int]:
    """Rank means from 1 for the best; what prints equal shares a rank.

    >>> from results.analysis.metrics import metric
    >>> means = {"dypam": 0.83, "lora": 0.80, "vera": 0.80, "full": 0.7}
    >>> ranks(metric("accuracy"), means)
    {'dypam': 1, 'lora': 2, 'vera': 2, 'full': 4}
    >>> ranks(metric("perplexity"), means)
    {'dypam': 4, 'lora': 2, 'vera': 2, 'full': 1}
    """
    merits = {name: metric.merit(metric.points(mean)) for name, mean in means.items()}
    return {name: 1 + sum(m > own for m in merits.values()) for name, own in merits.items()}


def _test(
    metric: Metric, own: Sample, other: Sample | None, seeds: frozenset[int], family: str
) -> Test | Undefined:
    if other is None:
        return Undefined("no other method")
    if not seeds == own.by_seed.keys() == other.by_seed.keys():
        return Undefined("seeds are missing")
    first, second = (list(map(metric.tested, one.by_seed.values())) for one in (own, other))
    test = welch(first, second)
    return replace(test, family=family) if isinstance(test, Test) else test


def _best_other(metric: Metric, name: str, samples: Mapping[str, Sample]) -> Sample | None:
    merits = {
        other: metric.merit(one.mean)
        for other, one in samples.items()
        if other != name and one.mean is not None
    }
    return samples[max(merits, key=merits.__getitem__)] if merits else None


def _better(metric: Metric, test: Test | Undefined) -> bool:
    return isinstance(test, Test) and test.significant and metric.merit(test.difference) > 0
