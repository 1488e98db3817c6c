"""Corrections for many tests, and rank sets, against their definitions, in exact fractions."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain, combinations

Ps = Sequence[Fraction]


def holm(ps: Ps) -> list[Fraction]:
    """Closed testing (Marcus, Peritz and Gabriel 1976) with Bonferroni's test of each subset.

    A hypothesis is rejected when every set of hypotheses that holds it is; Holm (1979) is the
    short cut. Its adjusted p is the largest p of those sets.
    """
    indices = range(len(ps))
    subsets = chain.from_iterable(combinations(indices, size) for size in range(1, len(ps) + 1))
    adjusted = [Fraction()] * len(ps)
    for subset in subsets:
        p = min(Fraction(1), len(subset) * min(ps[i] for i in subset))
        for i in subset:
            adjusted[i] = max(adjusted[i], p)
    return adjusted


def benjamini_hochberg(ps: Ps) -> list[Fraction]:
    """The lowest level at which each is rejected: m p / k must be reached by some k-th p above."""
    m = len(ps)
    return [
        min(
            Fraction(1),
            *(m * other / sum(one <= other for one in ps) for other in ps if other >= p),
        )
        for p in ps
    ]


def rank_sets(better: Sequence[Sequence[bool]]) -> list[tuple[int, int]]:
    m = len(better)
    return [
        (1 + sum(better[j][i] for j in range(m)), m - sum(better[i][j] for j in range(m)))
        for i in range(m)
    ]
