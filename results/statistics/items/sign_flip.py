"""Paired sign-flip permutation: could the differences of the items as well have the other sign?

    T = sum_c s_c D_c,    s_c = 1 or -1 with probability 1/2 each

D_c is what cluster c of items adds to the difference of the averages; an item that stands alone is
a cluster. If two trained models are equally good on all of them, every sign is as likely as the
other. Fisher, 1935. The Design of Experiments, section 21. The signs of clusters are independent
in whatever benchmark they are, so the test of a macro average is stratified by its weights 1/(B n).

Clusters of one |D| are interchangeable: the number of them with the sign + is binomial.
"""

from math import prod

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from results.statistics.items.drawn import DRAWS, generator, p_value
from results.statistics.items.interval import interval
from results.statistics.items.verdicts import (
    Answers,
    Average,
    Floats,
    Items,
    differences,
    fault,
)
from results.statistics.test import SIDED, Alternative, Test, Undefined

EXACT = 2**16
"""So many outcomes at most are counted in full."""


def sign_flip(
    a: Answers, b: Answers, average: Average = "micro", alternative: Alternative = "two-sided"
) -> Test | Undefined:
    """Test whether two sets of trained models score the same on average; over seeds, by the mean.

    The p is exact where there are few outcomes; else permutations are drawn.
    """
    why_not = fault(a, b)
    if why_not:
        return why_not
    parts = differences(a, b, average)
    moved = _moved(parts)
    if not moved.size:
        return Undefined("no item tells the two apart")
    n = sum(part.values.size for part in parts)
    p, smallest = _p(moved, alternative)
    return Test(
        name=f"paired {SIDED[alternative]} sign-flip permutation",
        claim="items",
        difference=float(moved.sum()),
        interval=interval(parts),
        p=p,
        n=(n, n),
        alternative=alternative,
        smallest_p=smallest,
    )


def _moved(parts: list[Items]) -> Floats:
    every = [part.sums[0] / (part.values.size * len(parts)) for part in parts]
    moved: Floats = np.concatenate([one[one != 0] for one in every])
    return moved


def _p(moved: Floats, alternative: Alternative) -> tuple[float, float]:
    sizes, counts = np.unique(np.abs(moved), return_counts=True)
    smallest = (2 if alternative == "two-sided" else 1) * 0.5**moved.size
    if prod(int(count) + 1 for count in counts) <= EXACT:
        sums, chances = _outcomes(sizes, counts)
        p = float(chances[_extreme(sums, moved, alternative)].sum())
        return min(1.0, p), min(1.0, smallest)
    extreme = int(_extreme(_drawn(sizes, counts), moved, alternative).sum())
    return p_value(extreme), max(smallest, p_value(0))


def _extreme(sums: Floats, moved: Floats, alternative: Alternative) -> NDArray[np.bool_]:
    # What differs by rounding alone is as extreme.
    near = 1e-9 * float(np.abs(moved).sum())
    seen = float(moved.sum())
    if alternative == "greater":
        return sums >= seen - near
    return np.abs(sums) >= abs(seen) - near


def _outcomes(sizes: Floats, counts: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Give every sum that the signs can make, and its probability."""
    sums, logs = np.zeros(1), np.zeros(1)
    for size, count in zip(sizes, counts, strict=True):
        plus = np.arange(count + 1)
        ways = gammaln(count + 1) - gammaln(plus + 1) - gammaln(count - plus + 1)
        sums = np.add.outer(sums, size * (2 * plus - count)).ravel()
        logs = np.add.outer(logs, ways - count * np.log(2)).ravel()
    return sums, np.exp(logs)


def _drawn(sizes: Floats, counts: NDArray[np.int64]) -> Floats:
    # One size at a time: scores that are no verdicts have as many sizes as items.
    random, sums = generator(), np.zeros(DRAWS)
    for size, count in zip(sizes, counts, strict=True):
        sums += size * (2 * random.binomial(count, 0.5, DRAWS) - count)
    return sums
