"""A simulation: how often something happens in generated tables whose truth is known."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TypeVar

import numpy as np
from numpy.random import Generator

from results.statistics.test import Test, Undefined

SEED = 20261122

Outcomes = Callable[[Generator, int], Iterable[bool]]
"""Given a generator and a number of tables, says of each whether it happened."""

Limits = tuple[float, float]
"""Where a share has to lie, give or take two simulation errors."""

FALSE_ALARMS: Limits = (0.0, 0.06)
COVERAGE: Limits = (0.93, 0.97)
STATED: Limits = (0.0, 1.0)
"""A figure that has no target."""

Value = TypeVar("Value")


@dataclass(frozen=True)
class Simulation:
    """One figure: a cell of one of the tables of the page."""

    row: str
    column: str
    outcomes: Outcomes
    tables: int
    limits: Limits

    def run(self, part: float = 1.0) -> "Rate":
        """Simulate this part of the tables, at least 10; the same part gives the same figure."""
        tables = max(10, round(self.tables * part))
        found = list(self.outcomes(np.random.default_rng(SEED), tables))
        return Rate(sum(found) / len(found), len(found), self.limits)


@dataclass(frozen=True)
class Rate:
    """In what share of the tables it happened."""

    share: float
    tables: int
    limits: Limits

    @property
    def holds(self) -> bool:
        """Tell whether the share lies where it has to."""
        below, above = (2 * sqrt(one * (1 - one) / self.tables) for one in self.limits)
        return self.limits[0] - below <= self.share <= self.limits[1] + above


@dataclass(frozen=True)
class Section:
    """A table of the page; its simulations come by row."""

    title: str
    simulations: Sequence[Simulation]


def row(
    name: str,
    column: str,
    values: Sequence[Value],
    outcomes: Callable[[Value], Outcomes],
    tables: int,
    limits: Limits = STATED,
) -> list[Simulation]:
    """Make a simulation for each value, whose column is named by putting it into `column`."""
    return [
        Simulation(name, column.format(value), outcomes(value), tables, limits) for value in values
    ]


def found(test: Test | Undefined) -> bool:
    """Tell whether a test found a difference; one that cannot be made has not."""
    return isinstance(test, Test) and test.significant


def by_seed(values: Sequence[float]) -> dict[int, float]:
    """Number the values of a method by seed."""
    return dict(enumerate(values))
