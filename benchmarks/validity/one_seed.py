"""Tests over items, of two trained models that are equally good on average over items."""

from collections.abc import Callable, Iterator
from functools import partial

from numpy.random import Generator

from benchmarks.validity.simulation import FALSE_ALARMS, STATED, Outcomes, Section, found, row
from benchmarks.validity.worlds import (
    PASSAGE,
    PairTest,
    World,
    answers,
    losses,
    mean_loss,
    passages,
    scores,
    skewed,
    verdicts,
)
from results.statistics.items.bootstrap import bootstrap_of
from results.statistics.items.mcnemar import mcnemar
from results.statistics.items.randomization import randomization
from results.statistics.items.sign_flip import sign_flip

SIZES = (50, 238, 1319)
"""A small benchmark, MAWPS and GSM8K."""


def one(items: int) -> list[int]:
    """Leave items in one benchmark."""
    return [items]


def three(items: int) -> list[int]:
    """Divide items into three benchmarks, two of which have a tenth each."""
    return [items - 2 * (items // 10), items // 10, items // 10]


def _alarms(
    test: PairTest, world: World, parts: Callable[[int], list[int]] = one, passage: int = 1
) -> Callable[[int], Outcomes]:
    def of(items: int) -> Outcomes:
        def outcomes(rng: Generator, tables: int) -> Iterator[bool]:
            for _ in range(tables):
                a, b = (answers(x, parts(items), passage) for x in world(rng, 1, items))
                yield found(test(a, b))

        return outcomes

    return of


_MACRO = partial(sign_flip, average="macro")
_RANDOMISED, _RESAMPLED = (partial(test, mean_loss) for test in (randomization, bootstrap_of))

_TRIED = [
    ("McNemar, verdicts", _alarms(mcnemar, verdicts(0)), SIZES, 4000, FALSE_ALARMS),
    ("sign flips, verdicts", _alarms(sign_flip, verdicts(0)), SIZES, 2000, FALSE_ALARMS),
    ("sign flips, macro", _alarms(_MACRO, verdicts(0), three), SIZES, 2000, FALSE_ALARMS),
    (
        "sign flips, four items a passage",
        _alarms(sign_flip, passages, passage=PASSAGE),
        SIZES,
        1000,
        FALSE_ALARMS,
    ),
    ("sign flips, skewed", _alarms(sign_flip, scores(skewed, 0)), SIZES[:1], 300, FALSE_ALARMS),
    ("randomisation, token loss", _alarms(_RANDOMISED, losses), SIZES[:1], 300, FALSE_ALARMS),
    ("paired bootstrap, token loss", _alarms(_RESAMPLED, losses), SIZES[:1], 300, STATED),
    ("not done: McNemar, four items a passage", _alarms(mcnemar, passages), SIZES, 2000, STATED),
    ("not done: McNemar, said of methods", _alarms(mcnemar, verdicts(0.3)), SIZES, 2000, STATED),
]

ALARMS = Section(
    "two trained models: a difference is found, % of equal pairs",
    [
        simulation
        for name, outcomes, sizes, tables, limits in _TRIED
        for simulation in row(name, "{} items", sizes, outcomes, tables, limits)
    ],
)
