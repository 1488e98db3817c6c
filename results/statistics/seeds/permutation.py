"""Permutation test over seeds: how many ways to name the runs give as large a difference?

If two methods are alike, each choice of n_a of all runs could as well have been the first method.
The p is the share of the C(n_a + n_b, n_a) choices whose difference of means is as large as the
one seen, which is among them: it is exact, and never 0.

Fisher, 1935. The Design of Experiments, section 21; Pitman, 1937. Significance tests which may be
applied to samples from any populations.

The choices are counted and not listed. With all numbers centred on their mean, the difference goes
with the sum of the chosen ones. Each choice is one of the first half of the runs with one of the
second half, and how many of the second half go with one of the first is a search in a sorted list.
"""

from collections.abc import Mapping, Sequence
from math import comb
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from results.statistics.sample import SAME, constant, finite
from results.statistics.test import SIDED, Alternative, Test, Undefined

MOST = 40
"""Runs of both methods that are permuted; a half has 2^20 choices then."""


def permutation(
    a: Mapping[int, float], b: Mapping[int, float], alternative: Alternative = "two-sided"
) -> Test | Undefined:
    """Test whether two methods differ by the difference of their means over all relabelings.

    There is no interval.

    >>> result = permutation({1: 0.8, 2: 0.9, 3: 0.7}, {1: 0.2, 2: 0.3, 3: 0.1})
    >>> result.p, result.smallest_p, result.possible
    (0.1, 0.1, False)
    """
    values = [*a.values(), *b.values()]
    if min(len(a), len(b)) < 2:  # noqa: PLR2004 - as of every test over seeds
        return Undefined("one seed")
    if not finite(values):
        return Undefined("a score is not finite")
    if constant(a.values()) and constant(b.values()):
        return Undefined("no spread over seeds")
    if len(values) > MOST:
        return Undefined(f"more than {MOST} runs to permute")
    return Test(
        name=f"{SIDED[alternative]} permutation test",
        claim="seeds",
        difference=fmean(a.values()) - fmean(b.values()),
        interval=None,
        p=_p(values, len(a), alternative),
        n=(len(a), len(b)),
        alternative=alternative,
        smallest_p=_smallest_p(len(a), len(b), alternative),
    )


def _p(values: Sequence[float], size: int, alternative: Alternative) -> float:
    """Give the share of choices of `size` values whose sum is as extreme as that of the first."""
    middle = fmean(values)
    centred = [value - middle for value in values]
    # What differs by rounding alone is as extreme.
    seen = sum(centred[:size])
    near = SAME * max(1.0, *map(abs, values))
    if alternative == "greater":
        count = _count(centred, size, seen - near)
    else:
        edge = abs(seen) - near
        negated = [-value for value in centred]
        count = _count(centred, size, edge) + _count(negated, size, edge)
    return min(1.0, count / comb(len(values), size))


def _count(values: Sequence[float], size: int, edge: float) -> int:
    """Count the choices of `size` values whose sum is at least `edge`."""
    half = len(values) // 2
    first, second = _sums(values[:half]), _sums(values[half:])
    return sum(
        int((len(rest) - np.searchsorted(rest, edge - first[chosen])).sum())
        for chosen in range(max(0, size - len(second) + 1), min(size, half) + 1)
        for rest in [second[size - chosen]]
    )


def _sums(values: Sequence[float]) -> list[NDArray[np.float64]]:
    """List the sums of all choices of 0, 1, 2, ... values, each ascending."""
    sums = [np.zeros(1), *(np.zeros(0) for _ in values)]
    for value in values:
        with_it = [np.zeros(0), *(one + value for one in sums[:-1])]
        sums = [np.concatenate(pair) for pair in zip(sums, with_it, strict=True)]
    return [np.sort(one) for one in sums]


def _smallest_p(n_a: int, n_b: int, alternative: Alternative) -> float:
    # Of two samples of one size, the exchange of all labels is as extreme.
    as_extreme = 2 if alternative == "two-sided" and n_a == n_b else 1
    return as_extreme / comb(n_a + n_b, n_a)
