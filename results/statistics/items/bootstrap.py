"""Paired bootstrap: how much the difference of two trained models varies with the items.

The items of a benchmark are drawn with replacement, as many as there are; both models keep their
scores on what is drawn. Items that share a passage are drawn together, the benchmarks of a macro
average each for itself, and the items of a micro average from all benchmarks at once.

Efron and Tibshirani, 1993. An Introduction to the Bootstrap, chapters 8 and 13. Koehn, 2004.
Statistical Significance Tests for Machine Translation Evaluation, for corpus BLEU.
"""

from collections.abc import Callable

import numpy as np

from results.statistics.items.drawn import around_zero, generator, percentiles, resample
from results.statistics.items.verdicts import (
    Answers,
    Average,
    Floats,
    Items,
    differences,
    fault,
    strata,
)
from results.statistics.test import SIDED, Alternative, Test, Undefined

FEW = 50
"""Of fewer units the interval is too narrow: at 30, of normal noise, 6.4 % of them miss."""

Score = Callable[[Floats], Floats]
"""The score of summed parts, (..., parts) to (...): of losses and tokens, the mean loss."""


def bootstrap(
    a: Answers, b: Answers, average: Average = "micro", alternative: Alternative = "two-sided"
) -> Test | Undefined:
    """Test whether two sets of trained models score the same on new items; over seeds, the mean."""
    why_not = fault(a, b)
    if why_not:
        return why_not
    parts = differences(a, b, average)
    held = [np.stack([part.sums[0], part.sizes], axis=1) for part in parts]
    return _test(parts, held, lambda sums: sums[..., 0] / sums[..., 1], alternative)


def bootstrap_of(
    score: Score,
    a: Answers,
    b: Answers,
    average: Average = "micro",
    alternative: Alternative = "two-sided",
) -> Test | Undefined:
    """Test whether two sets of trained models have the same `score`, computed from summed parts.

    The values are (seeds, items, parts). Micro is the score of the parts of all benchmarks, macro
    the mean of the benchmarks' scores; over seeds, the mean.
    """
    why_not = fault(a, b)
    if why_not:
        return why_not
    parts, others = strata(a, average), strata(b, average)
    held = [side_by_side(one, other) for one, other in zip(parts, others, strict=True)]
    return _test(parts, held, difference_of(score, parts[0], others[0]), alternative)


def side_by_side(a: Items, b: Items) -> Floats:
    """Put all that each unit holds into one row: (units, seeds of a and b times parts)."""
    sums = np.concatenate([a.sums, b.sums])
    return np.moveaxis(sums, 1, 0).reshape(sums.shape[1], -1)


def difference_of(score: Score, a: Items, b: Items) -> Score:
    """Score the sums of such rows: the mean of the seeds of `a`, less that of `b`, or NaN."""
    seeds = len(a.seeds), len(b.seeds)

    def difference(sums: Floats) -> Floats:
        # A score of no tokens is not finite, and is told.
        with np.errstate(all="ignore"):
            scores = score(sums.reshape(*sums.shape[:-1], sum(seeds), -1))
            means = scores[..., : seeds[0]].mean(-1) - scores[..., seeds[0] :].mean(-1)
        return np.where(np.isfinite(means), means, np.nan)

    return difference


def _test(
    parts: list[Items], held: list[Floats], difference: Score, alternative: Alternative
) -> Test | Undefined:
    why_not = no_spread(held)
    if why_not:
        return why_not
    random = generator()
    drawn: Floats = np.mean([difference(resample(random, one)) for one in held], axis=0)
    seen = float(np.mean([difference(one.sum(axis=0)) for one in held]))
    if not np.isfinite([seen, *drawn]).all():
        return Undefined("the score of a resample is not finite")
    n = sum(part.values.shape[1] for part in parts)
    p, smallest = around_zero(drawn, alternative)
    few = min(len(one) for one in held) < FEW
    return Test(
        name=f"paired {SIDED[alternative]} bootstrap" + f" (too narrow below {FEW} items)" * few,
        claim="items",
        difference=seen,
        interval=percentiles(drawn),
        p=p,
        n=(n, n),
        alternative=alternative,
        smallest_p=smallest,
    )


def no_spread(held: list[Floats]) -> Undefined | None:
    """Say why rows of units cannot be resampled."""
    if any(len(one) == 1 for one in held):
        return Undefined("a benchmark of one item")
    if all((one == one[0]).all() for one in held):
        return Undefined("no spread over items")
    return None
