"""Tests over test items: the numbers are one per item, of trained models."""

from collections.abc import Callable

from results.statistics.items.bootstrap import bootstrap
from results.statistics.items.hierarchical import hierarchical
from results.statistics.items.mcnemar import mcnemar, not_pairs
from results.statistics.items.sign_flip import sign_flip
from results.statistics.items.verdicts import Answers, Average
from results.statistics.test import Alternative, Test, Undefined

ItemTest = Callable[[Answers, Answers, Average, Alternative], Test | Undefined]

NAMED: dict[str, ItemTest] = {
    "mcnemar": mcnemar,
    "sign-flip": sign_flip,
    "bootstrap": bootstrap,
    "hierarchical": hierarchical,
}
"""The tests that a user can name."""


def default(
    a: Answers, b: Answers, average: Average = "micro", alternative: Alternative = "two-sided"
) -> Test | Undefined:
    """Make McNemar's test where it is one of single verdicts of one run each, else sign flips."""
    chosen = sign_flip if not_pairs(a, b, average) else mcnemar
    return chosen(a, b, average, alternative)
