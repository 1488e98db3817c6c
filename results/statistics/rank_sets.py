"""Rank sets: which ranks a method may have, as far as the tests can tell."""

from collections.abc import Sequence

RankSet = tuple[int, int]
"""The first and the last rank that a method may have, 1 for the best."""


def rank_sets(better: Sequence[Sequence[bool]]) -> list[RankSet]:
    """Give the set of each method: [1 + number better than it, m - number worse than it].

    `better[i][j]` says whether i of the m methods is significantly better than j, by p-values
    adjusted for all pairs. Then all true ranks lie in their sets with a confidence of 95 %.

    Mogstad, Romano, Shaikh and Wilhelm, 2024. Inference for Ranks.

    >>> rank_sets([[False, True, True], [False, False, False], [False, False, False]])
    [(1, 1), (2, 3), (2, 3)]
    """
    beaten_by = map(sum, zip(*better, strict=True))
    beats = map(sum, better)
    return [(1 + above, len(better) - below) for above, below in zip(beaten_by, beats, strict=True)]


def top_band(sets: Sequence[RankSet]) -> list[int]:
    """List the methods, by their index, that may be the best: their sets hold rank 1."""
    return [index for index, (first, _) in enumerate(sets) if first == 1]


def mostly_wide(sets: Sequence[RankSet]) -> bool:
    """Tell whether more than half of the sets span half of the ranks: they order little.

    >>> mostly_wide([(1, 4), (1, 4), (1, 3), (2, 4)]), mostly_wide([(1, 1), (2, 3), (2, 3)])
    (True, False)
    """
    wide = [last - first >= len(sets) / 2 for first, last in sets]
    return 2 * sum(wide) > len(sets)
