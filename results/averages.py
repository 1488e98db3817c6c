"""The two averages over benchmarks, of one run."""

from collections.abc import Collection
from statistics import fmean

from results.record import Score


def micro(scores: Collection[Score]) -> float:
    """Pool the items of all benchmarks, so that a large benchmark counts for more.

    >>> micro([Score("gsm8k", "llm-adapters", True, 1, 4), Score("aqua", "letter", True, 1, 1)])
    0.4
    """
    return sum(score.correct for score in scores) / sum(score.n for score in scores)


def macro(scores: Collection[Score]) -> float:
    """Average the accuracies, so that every benchmark counts the same.

    >>> macro([Score("gsm8k", "llm-adapters", True, 1, 4), Score("aqua", "letter", True, 1, 1)])
    0.625
    """
    return fmean(score.accuracy for score in scores)
