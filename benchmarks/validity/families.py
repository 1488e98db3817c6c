"""Families of tests: 22 methods in one column, corrected for their number as tables do it."""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.random import Generator

from benchmarks.validity.noise import NOISES, Noise, normal
from benchmarks.validity.over_seeds import SEEDS
from benchmarks.validity.simulation import FALSE_ALARMS, STATED, Limits, Outcomes, Section, row
from results.statistics.multiplicity import adjust, every_one
from results.statistics.rank_sets import RankSet, rank_sets
from results.statistics.seeds.welch import welch
from results.statistics.test import ALPHA, Test

METHODS = 22
DIFFERENCES = (1, 2, 3, 4, 6)
FAR = 1000.0

Table = Sequence[Sequence[float]]
"""The scores of each method, by seed."""
Family = Callable[[Table], list[float]]
"""Gives the adjusted p of a family of tests."""


def _p(a: Sequence[float], b: Sequence[float]) -> float:
    test = welch(a, b)
    return test.p if isinstance(test, Test) else 1.0


def one_pair(table: Table) -> list[float]:
    """Test the first two only."""
    return [_p(table[0], table[1])]


def all_pairs(table: Table) -> list[float]:
    """Adjust every pair for all pairs; the first is that of the first two."""
    return adjust([_p(a, b) for a, b in combinations(table, 2)], "holm")


def declared(table: Table) -> list[float]:
    """Adjust the first method against each other one."""
    return adjust([_p(table[0], other) for other in table[1:]], "holm")


def star(table: Table) -> list[float]:
    """Give the p that decides on the star of the best cell."""
    best, *others = _best_first(table)
    return [every_one([_p(best, other) for other in others])]


def declared_late(table: Table) -> list[float]:
    """Look which is the best and call it the declared method."""
    return declared(_best_first(table))


def _best_first(table: Table) -> Table:
    return sorted(table, key=sum, reverse=True)


def _alarms(family: Family, noise: Noise, equal: int = METHODS) -> Callable[[int], Outcomes]:
    """Of the methods, the first `equal` are equal and the others far below."""
    below = np.where(np.arange(METHODS) < equal, 0.0, FAR)[:, None]

    def of(n: int) -> Outcomes:
        def outcomes(rng: Generator, tables: int) -> Iterator[bool]:
            every = noise(rng, (tables, METHODS, n)) - below
            return (min(family(table)) < ALPHA for table in every.tolist())

        return outcomes

    return of


_TRIED: list[tuple[str, Callable[[int], Outcomes], int, Limits]] = [
    *(
        (f"all pairs, {shape}", _alarms(all_pairs, noise), 600, FALSE_ALARMS)
        for shape, noise in NOISES.items()
    ),
    *(
        (f"a declared method, {shape}", _alarms(declared, noise), 4000, FALSE_ALARMS)
        for shape, noise in NOISES.items()
    ),
    ("star of the best cell", _alarms(star, normal), 4000, FALSE_ALARMS),
    ("star, two equal and 20 far below", _alarms(star, normal, 2), 4000, FALSE_ALARMS),
    ("not done: the best is declared late", _alarms(declared_late, normal), 4000, STATED),
]

ALARMS = Section(
    "22 equal methods: one difference or more is found, % of tables",
    [
        one
        for name, outcomes, tables, limits in _TRIED
        for one in row(name, "n = {}", SEEDS, outcomes, tables, limits)
    ],
)


def _power(family: Family, n: int) -> Callable[[float], Outcomes]:
    """The first method is so many SD above 21 equal ones: whether it is told from the second."""

    def of(difference: float) -> Outcomes:
        above = np.where(np.arange(METHODS) == 0, difference, 0.0)[:, None]

        def outcomes(rng: Generator, tables: int) -> Iterator[bool]:
            every = normal(rng, (tables, METHODS, n)) + above
            return (family(table)[0] < ALPHA for table in every.tolist())

        return outcomes

    return of


POWER = Section(
    "difference in SD over seeds: it is found, %",
    [
        one
        for n in SEEDS
        for name, family, tables in (
            ("one pair", one_pair, 4000),
            ("a declared method and 21 others", declared, 1000),
            ("all pairs of 22", all_pairs, 200),
        )
        for one in row(f"n = {n}, {name}", "{}", DIFFERENCES, _power(family, n), tables)
    ],
)


def sets_of(table: Table) -> list[RankSet]:
    """Give the rank sets of a column by all pairs, as tables do it."""
    better = [[False] * METHODS for _ in table]
    for (i, j), p in zip(combinations(range(METHODS), 2), all_pairs(table), strict=True):
        if p < ALPHA:
            above = sum(table[i]) > sum(table[j])
            better[i][j], better[j][i] = above, not above
    return rank_sets(better)


def true_order(sets: Sequence[RankSet]) -> bool:
    """Tell whether each rank lies in its set; the methods come best first."""
    return all(first <= rank <= last for rank, (first, last) in enumerate(sets, start=1))


def fifth_below_top(sets: Sequence[RankSet]) -> bool:
    """Tell whether the fifth best method is told from the top band."""
    return sets[4][0] > 1


def _order(holds: Callable[[Sequence[RankSet]], bool], step: float) -> Callable[[int], Outcomes]:
    """Each method is `step` SD below the one before it."""
    below = step * np.arange(METHODS)[:, None]

    def of(n: int) -> Outcomes:
        def outcomes(rng: Generator, tables: int) -> Iterator[bool]:
            every = normal(rng, (tables, METHODS, n)) - below
            return (holds(sets_of(table)) for table in every.tolist())

        return outcomes

    return of


ORDER = Section(
    "rank sets of 22 methods, % of tables",
    [
        one
        for step in (0.5, 1)
        for name, holds, limits in (
            ("all true ranks are inside", true_order, (0.94, 1.0)),
            ("the fifth is below the top band", fifth_below_top, STATED),
        )
        for one in row(
            f"{step} SD apart: {name}", "n = {}", SEEDS, _order(holds, step), 200, limits
        )
    ],
)
