"""Rank the methods of one column, and test whether the best is significantly better."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from results.analysis.metrics import Metric
from results.statistics.sample import Sample
from results.statistics.seeds.welch import welch
from results.statistics.test import Test, Undefined

Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Cell:
    """One method in one column: its sample, its rank, its test."""

    column: str
    sample: Sample
    complete: bool
    """Whether it has a number for every seed that must have one."""
    rank: int | None
    """1 is the best, equals share a rank; None without a number, or with nothing to rank against.
    """
    significantly_best: bool
    """Whether it ranks first and its test is significant."""
    test: Test | Undefined
    """Of this method minus the best other trained one, on the logarithm if the metric says so."""
    missing: Mapping[int, str] = field(default_factory=dict)
    """Of each seed that must have a number and has none, the reason."""
    runs: tuple[str, ...] = ()
    """The ids of the runs behind the number, seed by seed, fold by fold."""


@dataclass(frozen=True)
class Candidate:
    """A method to be ranked in a column."""

    sample: Sample
    seeds: frozenset[int]
    """Those that must have a number."""
    trained: bool = True
    """Tests are made between trained methods only."""
    reasons: Mapping[int, str] = field(default_factory=dict)
    """Why a seed may have no number."""
    runs: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """The ids of the runs of each seed."""


def cells(
    metric: Metric, column: str, candidates: Mapping[Key, Candidate], family: str = ""
) -> dict[Key, Cell]:
    """Rank and test the methods of one column; `family` is that of the tests."""
    means = {key: one.sample.mean for key, one in candidates.items() if one.sample.mean is not None}
    ranked = ranks(metric, means) if len(means) > 1 else {}
    made = {}
    for key, own in candidates.items():
        others = [one for other, one in candidates.items() if other != key]
        test = _test(metric, own, others, family)
        made[key] = Cell(
            column=column,
            sample=own.sample,
            complete=_complete(own),
            rank=ranked.get(key),
            significantly_best=ranked.get(key) == 1 and _better(metric, test),
            test=test,
            missing={
                seed: own.reasons.get(seed, "")
                for seed in sorted(own.seeds - own.sample.by_seed.keys())
            },
            runs=tuple(run for seed in own.sample.by_seed for run in own.runs.get(seed, ())),
        )
    return made


def unranked(cell: Cell, reason: str) -> Cell:
    """Remove rank and test from a cell, which keeps its number."""
    return replace(cell, rank=None, significantly_best=False, test=Undefined(reason))


def ranks(metric: Metric, means: Mapping[Key, float]) -> dict[Key, int]:
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
    metric: Metric, own: Candidate, others: Sequence[Candidate], family: str
) -> Test | Undefined:
    if not own.trained:
        return Undefined("not trained")
    present = [one for one in others if one.sample.mean is not None]
    trained = [one for one in present if one.trained]
    if not trained:
        return Undefined("no other trained method" if present else "no other method")
    best = max(trained, key=lambda one: metric.merit(one.sample.mean or 0))
    if not (_complete(own) and _complete(best)):
        return Undefined("seeds are missing")
    first, second = (list(map(metric.tested, one.sample.by_seed.values())) for one in (own, best))
    test = welch(first, second)
    return replace(test, family=family) if isinstance(test, Test) else test


def _complete(one: Candidate) -> bool:
    return one.seeds == one.sample.by_seed.keys()


def _better(metric: Metric, test: Test | Undefined) -> bool:
    return isinstance(test, Test) and test.significant and metric.merit(test.difference) > 0
