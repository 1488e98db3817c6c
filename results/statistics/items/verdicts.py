"""What a method scored on each test item, and which methods may be compared on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from results.statistics.sample import LARGEST
from results.statistics.test import Undefined

Average = Literal["micro", "macro"]
"""Of several benchmarks: the mean over all their items, or the mean of the benchmarks' means."""

Floats = NDArray[np.float64]

DIGITS = 12
"""Decimals that are kept of a sum of scores; further ones differ by rounding alone."""


@dataclass(frozen=True)
class Items:
    """The items of one benchmark, as the runs of one method answered them."""

    seeds: tuple[int, ...]
    values: Floats
    """(seeds, items): verdicts as 0 and 1, or any score of an item. Where a score of all items is
    computed from sums, such as corpus BLEU from n-gram counts: (seeds, items, parts)."""
    clusters: NDArray[np.int64] | None = None
    """(items): items of one number share a passage; None where each stands alone."""

    @property
    def units(self) -> int:
        """The number of clusters: of items that stand alone, the number of items."""
        return self._sizes.size

    @property
    def means(self) -> Floats:
        """The mean of each seed over the items, (seeds)."""
        means: Floats = self.values.mean(axis=1)
        return means

    @property
    def sizes(self) -> Floats:
        """The number of items of each cluster, (units)."""
        return self._sizes.astype(float)

    @property
    def sums(self) -> Floats:
        """The sum of the scores, or of each part, of each cluster: (seeds, units, ...)."""
        return np.round(self._summed(self.values), DIGITS)

    @property
    def deviations(self) -> Floats:
        """How far each cluster moves the mean of a seed, (seeds, units).

        sqrt(C / (C - 1)) sum_{i in c} (x_i - mean) / n     of cluster c of C, of n items

        The sum of the squares of a row estimates the variance of that mean over new clusters:
        without clusters it is s^2 / n. At least two units.
        """
        moved = self._summed(self.values - self.means[:, None]) / self.values.shape[1]
        deviations: Floats = moved * np.sqrt(self.units / (self.units - 1))
        return deviations

    @property
    def _sizes(self) -> NDArray[np.int64]:
        if self.clusters is None:
            return np.ones(self.values.shape[1], np.int64)
        return np.unique(self.clusters, return_counts=True)[1].astype(np.int64)

    def _summed(self, values: Floats) -> Floats:
        if self.clusters is None:
            return values
        order = np.argsort(self.clusters, kind="stable")
        return np.add.reduceat(values[:, order], np.cumsum(self._sizes) - self._sizes, axis=1)


Answers = Mapping[str, Items]
"""All that one method answered, by benchmark."""


def strata(answers: Answers, average: Average) -> list[Items]:
    """Part the items so that the average is the mean of the parts' means.

    Each benchmark is a part of the macro average; the micro average has one part, all items.
    """
    benchmarks = [answers[name] for name in sorted(answers)]
    return benchmarks if average == "macro" else [_pooled(benchmarks)]


def differences(a: Answers, b: Answers, average: Average) -> list[Items]:
    """Subtract the scores of the same items, each a mean over seeds; by part, one row each."""
    parts = zip(strata(a, average), strata(b, average), strict=True)
    return [Items((0,), _difference(one, other), one.clusters) for one, other in parts]


def fault(a: Answers, b: Answers) -> Undefined | None:
    """Say why two methods cannot be compared on their items; None if they can be."""
    return unusable(a) or unusable(b) or mismatch(a, b)


def unusable(answers: Answers) -> Undefined | None:
    """Say why the answers of a method allow no test."""
    every = list(answers.values())
    if not every or not all(one.values.size for one in every):
        return Undefined("no items")
    if len({one.seeds for one in every}) > 1:
        return Undefined("a seed lacks a benchmark", withheld=True)
    if not all((np.abs(one.values) < LARGEST).all() for one in every):
        return Undefined("the score of an item is not finite")
    return None


def mismatch(a: Answers, b: Answers) -> Undefined | None:
    """Say whether two methods were asked other items."""
    same = a.keys() == b.keys() and all(_same_items(a[name], b[name]) for name in a)
    return None if same else Undefined("other items", withheld=True)


def _same_items(a: Items, b: Items) -> bool:
    if a.values.shape[1] != b.values.shape[1] or (a.clusters is None) != (b.clusters is None):
        return False
    return a.clusters is None or np.array_equal(a.clusters, b.clusters)  # type: ignore[arg-type]


def _difference(a: Items, b: Items) -> Floats:
    return np.round([a.values.mean(axis=0) - b.values.mean(axis=0)], DIGITS)


def _pooled(benchmarks: Sequence[Items]) -> Items:
    values = np.concatenate([one.values for one in benchmarks], axis=1)
    clustered = any(one.clusters is not None for one in benchmarks)
    return Items(benchmarks[0].seeds, values, _renumbered(benchmarks) if clustered else None)


def _renumbered(benchmarks: Sequence[Items]) -> NDArray[np.int64]:
    # Numbers of two benchmarks never meet.
    numbers: list[NDArray[np.int64]] = []
    start = 0
    for one in benchmarks:
        alone = np.arange(one.values.shape[1])
        which = alone if one.clusters is None else np.unique(one.clusters, return_inverse=True)[1]
        numbers.append(which.astype(np.int64) + start)
        start += one.units
    return np.concatenate(numbers)
