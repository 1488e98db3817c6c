"""Paired approximate randomisation: could as well the other model have given these texts?

If two trained models are equally good, who gave which of the two answers to a segment does not
matter. The answers to each segment are swapped with probability 1/2, and the score of each side is
recomputed from the summed parts of its segments: corpus BLEU from its n-gram counts.

Riezler and Maxwell, 2005. On Some Pitfalls in Automatic Evaluation and Significance Testing for MT.
"""

from itertools import product

import numpy as np

from results.statistics.items.bootstrap import Score, bootstrap_of, difference_of, side_by_side
from results.statistics.items.drawn import chunks, generator, p_value
from results.statistics.items.verdicts import Answers, Average, Floats, fault, strata
from results.statistics.test import SIDED, Alternative, Test, Undefined

EXACT = 16
"""Of so many segments at most, all swaps are made."""


def randomization(
    score: Score,
    a: Answers,
    b: Answers,
    average: Average = "micro",
    alternative: Alternative = "two-sided",
) -> Test | Undefined:
    """Test whether two sets of trained models have the same `score`, computed from summed parts.

    The values are (seeds, items, parts); both methods have as many seeds, and all of them are
    swapped on a segment. Micro is the score of the parts of all benchmarks, macro the mean of the
    benchmarks' scores. The interval is that of the paired bootstrap over segments.
    """
    why_not = fault(a, b) or _unpaired(a, b)
    if why_not:
        return why_not
    parts, others = strata(a, average), strata(b, average)
    held = [side_by_side(one, other) for one, other in zip(parts, others, strict=True)]
    difference = difference_of(score, parts[0], others[0])
    changes = [_change(one) for one in held]
    if not any(map(len, changes)):
        return Undefined("no item tells the two apart")
    seen = float(np.mean([difference(one.sum(axis=0)) for one in held]))
    swapped = zip(held, _swaps(changes), strict=True)
    every = np.mean([difference(one.sum(axis=0) + swap) for one, swap in swapped], axis=0)
    if not np.isfinite([seen, *every]).all():
        return Undefined("the score of what is swapped is not finite")
    n = sum(part.values.shape[1] for part in parts)
    of_items = bootstrap_of(score, a, b, average)
    p, smallest = _p(every, seen, sum(map(len, changes)), alternative)
    return Test(
        name=f"paired {SIDED[alternative]} approximate randomisation",
        claim="items",
        difference=seen,
        interval=of_items.interval if isinstance(of_items, Test) else None,
        p=p,
        n=(n, n),
        alternative=alternative,
        smallest_p=smallest,
    )


def _unpaired(a: Answers, b: Answers) -> Undefined | None:
    (one, *_), (other, *_) = a.values(), b.values()
    same = len(one.seeds) == len(other.seeds)
    return None if same else Undefined("other numbers of seeds", withheld=True)


def _change(held: Floats) -> Floats:
    """Give what a swap changes in the sums, of each segment in which it changes something."""
    first, second = np.split(held, 2, axis=1)
    change: Floats = np.concatenate([second - first, first - second], axis=1)
    return change[change.any(axis=1)]


def _swaps(changes: list[Floats]) -> list[Floats]:
    """Give what the swaps change in the sums of each part of the average, (swaps, parts)."""
    sizes = [len(change) for change in changes]
    if sum(sizes) <= EXACT:
        every = np.array(list(product((0.0, 1.0), repeat=sum(sizes))))
        split = np.split(every, np.cumsum(sizes)[:-1], axis=1)
        return [swap @ change for swap, change in zip(split, changes, strict=True)]
    random = generator()
    return [_drawn(random, change) for change in changes]


def _drawn(random: np.random.Generator, change: Floats) -> Floats:
    n = len(change)
    swaps = (random.integers(0, 2, (size, n)).astype(float) for size in chunks(n))
    return np.concatenate([swap @ change for swap in swaps])


def _p(every: Floats, seen: float, segments: int, alternative: Alternative) -> tuple[float, float]:
    # What differs by rounding alone is as extreme.
    near = 1e-9 * float(np.abs(every).max())
    one_sided = alternative == "greater"
    extreme = every >= seen - near if one_sided else np.abs(every) >= abs(seen) - near
    smallest = min(1.0, (1 if one_sided else 2) * 0.5**segments)
    if segments <= EXACT:
        return float(extreme.mean()), smallest
    return p_value(int(extreme.sum())), max(smallest, p_value(0))
