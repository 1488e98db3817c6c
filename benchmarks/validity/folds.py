"""Tests over folds, of two methods that are equally good."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.random import Generator

from benchmarks.validity.noise import TRUTH, Noise, normal, skewed
from benchmarks.validity.simulation import Outcomes, Section, by_seed, found, row
from results.statistics.seeds import NAMED
from results.statistics.seeds.folds import folds
from results.statistics.test import Test, Undefined

FOLDS = 5
CORRELATIONS = (0, 0.1, 0.2, 0.3)
Scores = Sequence[float]


def corrected(a: Scores, b: Scores) -> Test | Undefined:
    """Make the test of Nadeau and Bengio, one seed of each fold."""
    first, second = ({fold: {1: score} for fold, score in enumerate(one)} for one in (a, b))
    return folds(first, second, range(FOLDS), test_to_train=1 / (FOLDS - 1))


def naive(a: Scores, b: Scores) -> Test | Undefined:
    """Take folds for independent seeds."""
    return NAMED["paired"](by_seed(a), by_seed(b), "two-sided")


def alarms(
    test: Callable[[Scores, Scores], Test | Undefined], noise: Noise
) -> Callable[[float], Outcomes]:
    """Give how often a test is wrong if the differences of two folds have this correlation."""

    def of(correlation: float) -> Outcomes:
        def outcomes(rng: Generator, tables: int) -> Iterator[bool]:
            own, shared = (noise(rng, (tables, 2, k)) - TRUTH for k in (FOLDS, 1))
            both = TRUTH + np.sqrt(1 - correlation) * own + np.sqrt(correlation) * shared
            return (found(test(a, b)) for a, b in both.tolist())

        return outcomes

    return of


ALARMS = Section(
    "five folds, by correlation: a difference is found, % of equal pairs",
    [
        one
        for name, test, noise in (
            ("Nadeau and Bengio, normal", corrected, normal),
            ("Nadeau and Bengio, skewed", corrected, skewed),
            ("not done: paired t, normal", naive, normal),
        )
        for one in row(name, "{}", CORRELATIONS, alarms(test, noise), 10_000)
    ],
)
