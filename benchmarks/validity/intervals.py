"""Intervals: how often they cover the truth."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.random import Generator

from benchmarks.validity.noise import NOISES, TRUTH, Noise
from benchmarks.validity.one_seed import SIZES, three
from benchmarks.validity.over_seeds import SEEDS
from benchmarks.validity.seeds_and_items import ITEMS
from benchmarks.validity.simulation import COVERAGE, STATED, Outcomes, Section, by_seed, row
from benchmarks.validity.worlds import PairTest, World, answers, normal, scores, verdicts
from results.statistics import strata, wilson
from results.statistics.components import crossed
from results.statistics.items.bootstrap import bootstrap
from results.statistics.items.mcnemar import mcnemar
from results.statistics.items.sign_flip import sign_flip
from results.statistics.items.verdicts import Average
from results.statistics.sample import sample
from results.statistics.test import Test


def _of_mean(noise: Noise) -> Callable[[int], Outcomes]:
    def of(n: int) -> Outcomes:
        def outcomes(rng: Generator, tables: int) -> Iterator[bool]:
            found = (sample(by_seed(one)).interval for one in noise(rng, (tables, n)).tolist())
            return (low <= TRUTH <= high for low, high in filter(None, found))

        return outcomes

    return of


def _of_no_difference(test: PairTest, world: World, seeds: int, items: int) -> Outcomes:
    def outcomes(rng: Generator, tables: int) -> Iterator[bool]:
        for _ in range(tables):
            a, b = (answers(one, [items]) for one in world(rng, seeds, items))
            result = test(a, b)
            if isinstance(result, Test) and result.interval:
                yield result.interval[0] <= 0 <= result.interval[1]

    return outcomes


def _of_share(items: int) -> Outcomes:
    """Give the average over shares between 0 and 1."""

    def outcomes(rng: Generator, tables: int) -> Iterator[bool]:
        for share in rng.random(tables):
            low, high = wilson.interval(rng.binomial(items, share) / items, items)
            yield bool(low <= share <= high)

    return outcomes


def _of_average(average: Average) -> Callable[[int], Outcomes]:
    """Give the average over shares of three benchmarks."""

    def of(items: int) -> Outcomes:
        sizes = np.array(three(items))
        weights = sizes / items if average == "micro" else np.full(3, 1 / 3)

        def outcomes(rng: Generator, tables: int) -> Iterator[bool]:
            for shares in rng.random((tables, 3)):
                seen = rng.binomial(sizes, shares) / sizes
                low, high = strata.interval(list(zip(seen, sizes, strict=True)), average)
                yield bool(low <= weights @ shares <= high)

        return outcomes

    return of


def _over_seeds(test: PairTest, world: World) -> Callable[[int], Outcomes]:
    return lambda n: _of_no_difference(test, world, n, ITEMS)


def _over_items(test: PairTest) -> Callable[[int], Outcomes]:
    return lambda items: _of_no_difference(test, verdicts(0), 1, items)


_BY_SEEDS = [
    ("t, mean over seeds, normal", _of_mean(NOISES["normal"]), 10_000, COVERAGE),
    ("t, mean over seeds, binomial", _of_mean(NOISES["binomial"]), 10_000, COVERAGE),
    ("t, mean over seeds, skewed", _of_mean(NOISES["skewed"]), 10_000, STATED),
    ("crossed components, normal", _over_seeds(crossed, scores(normal, 0.3)), 2000, COVERAGE),
    ("crossed components, verdicts", _over_seeds(crossed, verdicts(0.3)), 2000, COVERAGE),
]
_BY_ITEMS = [
    ("Wilson, one benchmark", _of_share, 10_000, COVERAGE),
    ("micro of three", _of_average("micro"), 10_000, COVERAGE),
    ("macro of three", _of_average("macro"), 10_000, COVERAGE),
    ("McNemar", _over_items(mcnemar), 4000, COVERAGE),
    ("sign flips", _over_items(sign_flip), 2000, COVERAGE),
    ("paired bootstrap", _over_items(bootstrap), 1000, COVERAGE),
]

OVER_SEEDS = Section(
    "intervals over seeds: the truth is covered, %",
    [
        one
        for name, outcomes, tables, limits in _BY_SEEDS
        for one in row(name, "n = {}", SEEDS, outcomes, tables, limits)
    ],
)
OVER_ITEMS = Section(
    "intervals over items: the truth is covered, %",
    [
        one
        for name, outcomes, tables, limits in _BY_ITEMS
        for one in row(name, "{} items", SIZES, outcomes, tables, limits)
    ],
)
