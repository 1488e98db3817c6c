"""Wilcoxon's signed-rank test over benchmarks: is a method better on benchmarks like these?

    W = sum of the ranks of |d_b| over the benchmarks with d_b > 0

d_b is the difference of two methods on benchmark b; benchmarks without a difference are left out,
and equal |d_b| have the mean of their ranks. If neither method is better, each rank counts with
probability 1/2: the p is exact, whatever the number of benchmarks and the ties.

Wilcoxon, 1945. Individual Comparisons by Ranking Methods. Demsar, 2006. Statistical Comparisons of
Classifiers over Multiple Data Sets, section 3.1.3, proposes it for two methods; adjust the p of
several pairs.
"""

from collections.abc import Mapping
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from results.statistics.items.verdicts import DIGITS, Floats
from results.statistics.sample import finite
from results.statistics.test import SIDED, Alternative, Test, Undefined


def wilcoxon(
    a: Mapping[str, float], b: Mapping[str, float], alternative: Alternative = "two-sided"
) -> Test | Undefined:
    """Test whether two methods, given by their score on each benchmark, differ over benchmarks.

    >>> wilcoxon({"gsm8k": 0.5, "aqua": 0.25}, {"gsm8k": 0.25, "aqua": 0.125}).p
    0.5
    >>> wilcoxon({"gsm8k": 0.5}, {"aqua": 0.5})
    Undefined(reason='other benchmarks', withheld=True)
    """
    if a.keys() != b.keys():
        return Undefined("other benchmarks", withheld=True)
    if not finite([*a.values(), *b.values()]):
        return Undefined("the score of a benchmark is not finite")
    every = [round(a[name] - b[name], DIGITS) for name in a]
    apart = np.array([d for d in every if d])
    if not apart.size:
        return Undefined("no benchmark tells the two apart")
    sides = 2 if alternative == "two-sided" else 1
    return Test(
        name=f"Wilcoxon's {SIDED[alternative]} signed-rank test",
        claim="benchmarks",
        difference=fmean(every),
        interval=None,
        p=_p(apart, alternative),
        n=(len(every), len(every)),
        alternative=alternative,
        smallest_p=sides * 0.5**apart.size,
    )


def _p(apart: Floats, alternative: Alternative) -> float:
    twice = _twice_the_ranks(np.abs(apart))
    chances = _chances(twice)
    w = int(twice[apart > 0].sum())
    above = float(chances[w:].sum())
    if alternative == "greater":
        return above
    return min(1.0, 2 * min(above, float(chances[: w + 1].sum())))


def _twice_the_ranks(sizes: Floats) -> NDArray[np.int64]:
    # Doubled, mean ranks are whole numbers: one below and one not above count each rank.
    ordered = np.sort(sizes)
    return np.searchsorted(ordered, sizes) + np.searchsorted(ordered, sizes, "right") + 1


def _chances(ranks: NDArray[np.int64]) -> Floats:
    """Give the probability of each sum of ranks, from 0."""
    chances = np.ones(1)
    for rank in ranks:
        longer = np.zeros(chances.size + int(rank))
        longer[: chances.size] += chances / 2
        longer[int(rank) :] += chances / 2
        chances = longer
    return chances
