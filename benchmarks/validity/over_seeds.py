"""Tests over seeds, of two methods that are equally good on average over seeds."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.random import Generator

from benchmarks.validity.noise import NOISES, TRUTH, Noise, Numbers, normal, skewed
from benchmarks.validity.simulation import (
    FALSE_ALARMS,
    STATED,
    Limits,
    Outcomes,
    Section,
    by_seed,
    found,
    row,
)
from results.statistics.seeds import NAMED

SEEDS = (3, 5, 10)
CORRELATION = 0.6


def correlated(rng: Generator, shape: tuple[int, ...]) -> Numbers:
    """Give normal noise of which two methods share a part in each seed, (tables, 2, seeds)."""
    shared = normal(rng, (shape[0], 1, shape[2])) - TRUTH
    own = normal(rng, shape) - TRUTH
    return np.asarray(TRUTH + CORRELATION**0.5 * shared + (1 - CORRELATION) ** 0.5 * own)


def unequal(rng: Generator, shape: tuple[int, ...]) -> Numbers:
    """Give normal noise that is three times as wide for the second method."""
    return np.asarray(TRUTH + (normal(rng, shape) - TRUTH) * np.array([[1.0], [3.0]]))


def lopsided(rng: Generator, shape: tuple[int, ...]) -> Numbers:
    """Give skewed noise that is three times as wide for the second method."""
    return np.asarray(TRUTH + (skewed(rng, shape) - TRUTH) * np.array([[1.0], [3.0]]))


def _alarms(name: str, noise: Noise) -> Callable[[int], Outcomes]:
    def of(n: int) -> Outcomes:
        def outcomes(rng: Generator, tables: int) -> Iterator[bool]:
            for a, b in noise(rng, (tables, 2, n)).tolist():
                yield found(NAMED[name](by_seed(a), by_seed(b), "two-sided"))

        return outcomes

    return of


_TRIED: list[tuple[str, str, Noise, Limits]] = [
    *(("welch", shape, noise, FALSE_ALARMS) for shape, noise in NOISES.items()),
    ("welch", "one spreads three times as far", unequal, FALSE_ALARMS),
    ("welch", "skewed, one spreads three times as far", lopsided, STATED),
    *(("paired", shape, noise, FALSE_ALARMS) for shape, noise in NOISES.items()),
    ("paired", f"seeds correlated by {CORRELATION}", correlated, FALSE_ALARMS),
    *(("permutation", shape, noise, FALSE_ALARMS) for shape, noise in NOISES.items()),
]

ALARMS = Section(
    "over seeds: a difference is found, % of equal pairs",
    [
        one
        for name, shape, noise, limits in _TRIED
        for one in row(f"{name}, {shape}", "n = {}", SEEDS, _alarms(name, noise), 10_000, limits)
    ],
)
