"""Tests over new seeds and new items, of two methods that are equally good over both."""

from collections.abc import Callable, Iterator

from numpy.random import Generator

from benchmarks.validity.over_seeds import SEEDS
from benchmarks.validity.simulation import FALSE_ALARMS, STATED, Outcomes, Section, found, row
from benchmarks.validity.worlds import (
    PairTest,
    World,
    answers,
    normal,
    scores,
    skewed,
    verdicts,
)
from results.statistics.components import crossed
from results.statistics.items.hierarchical import hierarchical

ITEMS = 100


def _alarms(test: PairTest, world: World) -> Callable[[int], Outcomes]:
    def of(n: int) -> Outcomes:
        def outcomes(rng: Generator, tables: int) -> Iterator[bool]:
            for _ in range(tables):
                a, b = world(rng, n, ITEMS)
                yield found(test(answers(a, [ITEMS]), answers(b, [ITEMS])))

        return outcomes

    return of


_TRIED = [
    ("crossed components, normal scores", crossed, scores(normal, 0.3), 4000, FALSE_ALARMS),
    ("crossed components, skewed scores", crossed, scores(skewed, 0.3), 4000, FALSE_ALARMS),
    ("crossed components, verdicts", crossed, verdicts(0.3), 4000, FALSE_ALARMS),
    ("crossed components, verdicts, seeds are noise", crossed, verdicts(0), 4000, FALSE_ALARMS),
    ("hierarchical bootstrap, seeds are nearly all", hierarchical, scores(normal, 3), 400, STATED),
]

ALARMS = Section(
    "over seeds and items: a difference is found, % of equal pairs",
    [
        one
        for name, test, world, tables, limits in _TRIED
        for one in row(name, "n = {}", SEEDS, _alarms(test, world), tables, limits)
    ],
)
