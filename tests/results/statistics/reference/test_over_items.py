"""Tests over items and benchmarks, and intervals, against enumeration and exact sums."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import comb

import mpmath as mp

Values = Sequence[Sequence[Fraction]]
"""Seeds by items."""


def mcnemar(gained: int, lost: int) -> Fraction:
    """Twice the smaller tail of Binomial(gained + lost, 1 / 2), at most 1."""
    n, few = gained + lost, min(gained, lost)
    return min(Fraction(1), Fraction(2 * sum(comb(n, k) for k in range(few + 1)), 2**n))


def sign_flip(differences: Sequence[Fraction], weights: Sequence[Fraction]) -> Fraction:
    """The share of sign patterns whose weighted sum is as far from 0 as the one found.

    Items of a cluster are summed before; a macro average weighs an item by 1 / (B n_b).
    """
    terms = [w * d for w, d in zip(weights, differences, strict=True)]
    found = abs(sum(terms, Fraction()))
    patterns = list(product((1, -1), repeat=len(terms)))
    as_far = sum(
        abs(sum((s * t for s, t in zip(signs, terms, strict=True)), Fraction())) >= found
        for signs in patterns
    )
    return Fraction(as_far, len(patterns))


def wilcoxon(differences: Sequence[Fraction]) -> Fraction:
    """Signed ranks of the differences that are not 0, ties share ranks, by enumeration."""
    sizes = [abs(d) for d in differences if d]
    ranks = [
        Fraction(sum(o < s for o in sizes)) + Fraction(1 + sum(o == s for o in sizes), 2)
        for s in sizes
    ]
    signs = [1 if d > 0 else -1 for d in differences if d]
    return sign_flip([s * r for s, r in zip(signs, ranks, strict=True)], [Fraction(1)] * len(ranks))


def wilson(correct: int, n: int, z: mp.mpf) -> tuple[mp.mpf, mp.mpf]:
    """The two p at which (correct / n - p)^2 = z^2 p (1 - p) / n: roots of a quadratic."""
    share = mp.mpf(correct) / n
    low, high = sorted(
        mp.polyroots([1 + z**2 / n, -(2 * share + z**2 / n), share**2], extraprec=60), key=mp.re
    )
    return mp.re(low), mp.re(high)


def mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction()) / len(values)


def variance(values: Sequence[Fraction]) -> Fraction:
    middle = mean(values)
    return sum(((one - middle) ** 2 for one in values), Fraction()) / (len(values) - 1)


def mean_squares(values: Values) -> tuple[Fraction, Fraction, Fraction]:
    """Of seeds, items and the rest: two-way layout, one value per cell (Searle 1971, table 9.2)."""
    seeds, items = len(values), len(values[0])
    by_seed = [mean(row) for row in values]
    by_item = [mean([row[i] for row in values]) for i in range(items)]
    grand = mean(by_seed)
    rest = sum(
        (values[s][i] - by_seed[s] - by_item[i] + grand) ** 2
        for s in range(seeds)
        for i in range(items)
    )
    return (
        items * variance(by_seed),
        seeds * variance(by_item),
        rest / ((seeds - 1) * (items - 1)),
    )


def components(values: Values) -> tuple[Fraction, Fraction, Fraction]:
    """Variance of seeds, items and the rest, from E MS = rest + (size of the other) component."""
    of_seeds, of_items, rest = mean_squares(values)
    return (of_seeds - rest) / len(values[0]), (of_items - rest) / len(values), rest


def crossed(a: Values, b: Values) -> tuple[Fraction, Fraction]:
    """Variance of the difference of means over new seeds and new items, and Satterthwaite's df.

    y = mean_m + seed_ms + item_i + (m item)_mi + rest_msi. Per-item differences of the means vary
    by (m item) and the rest; what the seeds add is (MS seeds - MS rest) / (seeds items) of each.
    """
    items = len(a[0])
    per_item = [mean([r[i] for r in a]) - mean([r[i] for r in b]) for i in range(items)]
    terms = [(variance(per_item) / items, items - 1)]
    for values in (a, b):
        seeds = len(values)
        of_seeds, _, rest = mean_squares(values)
        terms.append((of_seeds / (seeds * items), seeds - 1))
        terms.append((-rest / (seeds * items), (seeds - 1) * (items - 1)))
    total = sum((term for term, _ in terms), Fraction())
    return total, total**2 / sum((term**2 / df for term, df in terms), Fraction())


def strata(counts: Sequence[tuple[int, int]]) -> dict[str, tuple[Fraction, Fraction]]:
    """Mean and its variance of micro and macro, benchmarks (correct, n) as strata (Cochran 5.3)."""
    rows = sum(n for _, n in counts)
    weights = {
        "micro": [Fraction(n, rows) for _, n in counts],
        "macro": [Fraction(1, len(counts)) for _ in counts],
    }
    shares = [Fraction(k, n) for k, n in counts]
    return {
        name: (
            sum((w * p for w, p in zip(ws, shares, strict=True)), Fraction()),
            sum(
                (
                    w**2 * p * (1 - p) / (n - 1)
                    for w, p, (_, n) in zip(ws, shares, counts, strict=True)
                ),
                Fraction(),
            ),
        )
        for name, ws in weights.items()
    }
