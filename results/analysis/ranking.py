"""Rank the methods of one column, and say what tests tell of the best, and of every other."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from results.analysis.metrics import Metric
from results.analysis.testing.evidence import Interval
from results.analysis.testing.family import (
    MISSING,
    Candidate,
    Family,
    Ranks,
    against_all,
    rank_sets_of,
    tested,
)
from results.analysis.testing.tests import DEFAULT, Testing
from results.statistics.equivalence import Equivalence, of_test
from results.statistics.sample import Sample
from results.statistics.test import ALPHA, Test, Undefined

Key = TypeVar("Key", bound=Hashable)

NOT_TRAINED = "not trained"
"""Why an untrained method has no test."""


@dataclass(frozen=True)
class Cell:
    """One method in one column: its sample, its rank, its tests."""

    column: str
    sample: Sample
    complete: bool
    """Whether it has a number for every seed that must have one."""
    rank: int | None
    """1 is the best, equals share a rank; None without a number, or with nothing to rank against.
    """
    significantly_best: bool
    """Whether it ranks first and is better than every other trained method, at the level ALPHA.

    A star is a claim on methods: tests over items alone earn none unless one was asked for."""
    test: Test | Undefined
    """Of this method minus its rival, on the logarithm if the metric says so."""
    missing: Mapping[int, str] = field(default_factory=dict)
    """Of each seed that must have a number and has none, the reason."""
    runs: tuple[str, ...] = ()
    """The ids of the runs behind the number, seed by seed, fold by fold."""
    rival: str = ""
    """The label of the declared method, or else of the best other trained one."""
    against_all: float | Undefined | None = None
    """The p of "better than every other": the largest unadjusted p, 1 if it is not. None without
    any other, and of a method that is not the declared one."""
    equivalence: Equivalence | Undefined | None = None
    """Whether this method differs from its rival by less than the margin; None without one."""
    interval: Interval | None = None
    """Of the mean: over seeds, and of one run over items."""
    ranks: Ranks | None = None
    """The ranks that tests of all pairs leave to it; None without any."""


def cells(
    metric: Metric,
    column: str,
    candidates: Mapping[Key, Candidate],
    testing: Testing = DEFAULT,
    family: str = "",
) -> dict[Key, Cell]:
    """Rank and test the methods of one column; `family` is that of the tests."""
    means = {key: one.sample.mean for key, one in candidates.items() if one.sample.mean is not None}
    ranked = ranks(metric, means) if len(means) > 1 else {}
    tests = tested(metric, candidates, testing, family)
    models = not testing.test and _of_models(tests)
    sets = {} if testing.against or models else rank_sets_of(metric, tests)
    made = {}
    for key, own in candidates.items():
        rival = _rival(metric, key, candidates, testing)
        everyone = _against_all(metric, key, own, tests, testing)
        beats_all = isinstance(everyone, float) and everyone < ALPHA
        test = rival if isinstance(rival, Undefined) else tests.test(key, rival)
        made[key] = Cell(
            column=column,
            sample=own.sample,
            complete=own.complete,
            rank=ranked.get(key),
            significantly_best=ranked.get(key) == 1 and beats_all and not models,
            test=test,
            missing={
                seed: own.reasons.get(seed, "")
                for seed in sorted(own.seeds - own.sample.by_seed.keys())
            },
            runs=tuple(run for seed in own.sample.by_seed for run in own.runs.get(seed, ())),
            rival="" if isinstance(rival, Undefined) else candidates[rival].label,
            against_all=everyone,
            equivalence=_equivalence(metric, test, testing),
            interval=own.interval,
            ranks=sets.get(key),
        )
    return made


def _of_models(family: Family[Key]) -> bool:
    """Tell whether the tests are over items alone, and so of trained models."""
    return any(isinstance(test, Test) and test.claim == "items" for test in family.tests.values())


def _equivalence(
    metric: Metric, test: Test | Undefined, testing: Testing
) -> Equivalence | Undefined | None:
    if testing.margin is None:
        return None
    if isinstance(test, Undefined):
        return test
    if metric.logarithm:
        return Undefined("a margin in points is none of a ratio", withheld=True)
    return of_test(test, testing.margin / metric.points(1))


def unranked(cell: Cell, reason: str) -> Cell:
    """Remove rank and test from a cell, which keeps its number."""
    why = Undefined(reason, withheld=True)
    return replace(
        cell, rank=None, significantly_best=False, test=why, against_all=None, ranks=None
    )


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


def _rival(
    metric: Metric, key: Key, candidates: Mapping[Key, Candidate], testing: Testing
) -> Key | Undefined:
    """Choose whom the test of a cell is against: the declared method, or else the best other."""
    own = candidates[key]
    if not own.trained:
        return Undefined(NOT_TRAINED)
    others = {k: one for k, one in candidates.items() if k != key and one.sample.mean is not None}
    trained = {k: one for k, one in others.items() if one.trained}
    if not trained:
        return Undefined("no other trained method" if others else "no other method")
    if own.sample.mean is None:
        return MISSING
    if testing.against and not own.declared:
        declared = [k for k, one in trained.items() if one.declared]
        return declared[0] if declared else Undefined(f"no run of {testing.against}")
    return max(trained, key=lambda k: metric.merit(trained[k].sample.mean or 0))


def _against_all(
    metric: Metric, key: Key, own: Candidate, tests: Family[Key], testing: Testing
) -> float | Undefined | None:
    return None if testing.against and not own.declared else against_all(metric, key, tests)
