"""Averages over the benchmarks of one run, against numbers worked out apart from the code."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.analysis.averages import averages, macro, micro, overall
from results.analysis.metrics import metric
from results.record import POOLED, Run, Score


def score(correct: int, n: int) -> Score:
    return Score("gsm8k", "accuracy", "llm-adapters", True, correct / n, n)


def test_micro_pools_items_and_macro_averages_benchmarks() -> None:
    # By hand: (30 + 5) / (100 + 10) = 7/22; (0.3 + 0.5) / 2 = 0.4.
    scores = [score(30, 100), score(5, 10)]
    assert micro(scores) == pytest.approx(7 / 22, abs=1e-15)
    assert macro(scores) == 0.4


def test_a_metric_that_is_no_share_is_pooled_as_stored_and_not_by_rows() -> None:
    sizes = {"dolly": (20.0, 90), "webgpt": (30.0, 10), POOLED: (27.0, 100)}
    scores = {name: Score(name, "bleu", "", True, *size) for name, size in sizes.items()}
    assert averages(metric("bleu"), scores) == {POOLED: 27.0, "macro": 25.0}
    del scores[POOLED]
    assert averages(metric("bleu"), scores) == {"macro": 25.0}


def test_a_run_without_scores_has_no_overall_number(make: Callable[..., Run]) -> None:
    assert overall(make(scores=())) is None


@given(st.lists(st.integers(0, 40), min_size=1, max_size=8))
def test_micro_equals_macro_when_all_benchmarks_are_of_one_size(correct: list[int]) -> None:
    scores = [score(right, 40) for right in correct]
    assert micro(scores) == pytest.approx(macro(scores), abs=1e-12)
