"""Ranks and significance in one column."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from results.analysis.metrics import Metric, metric
from results.analysis.ranking import Cell, cells, ranks
from results.analysis.testing.evidence import Evidence
from results.analysis.testing.family import Candidate
from results.analysis.testing.tests import DEFAULT, Testing
from results.statistics.sample import sample
from results.statistics.test import Test, Undefined

ACCURACY, PERPLEXITY = metric("accuracy"), metric("perplexity")


def ranked(
    numbers: dict[str, list[float]], of: Metric = ACCURACY, testing: Testing = DEFAULT
) -> dict[str, Cell]:
    """Rank methods by their numbers, of seeds 0, 1, 2 and so on."""
    samples = {method: sample(dict(enumerate(values))) for method, values in numbers.items()}
    seeds = frozenset(seed for one in samples.values() for seed in one.by_seed)
    candidates = {
        method: Candidate(
            one,
            seeds,
            Evidence({seed: of.tested(number) for seed, number in one.by_seed.items()}),
            label=method,
            declared=method == testing.against,
        )
        for method, one in samples.items()
    }
    return cells(of, "gsm8k", candidates, testing)


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ({"a": 0.7, "b": 0.9, "c": 0.8}, {"a": 3, "b": 1, "c": 2}),
        ({"a": 0.9, "b": 0.9, "c": 0.8}, {"a": 1, "b": 1, "c": 3}),
        ({"a": 0.9, "b": 0.8, "c": 0.8}, {"a": 1, "b": 2, "c": 2}),
        ({"a": 0.9}, {"a": 1}),
        ({}, {}),
    ],
)
def test_equals_share_a_rank_and_two_best_leave_no_second(
    means: dict[str, float], expected: dict[str, int]
) -> None:
    assert ranks(ACCURACY, means) == expected


def test_what_prints_equal_ranks_equal() -> None:
    assert ranks(ACCURACY, {"a": 0.900001, "b": 0.900002, "c": 0.8999}) == {
        "a": 1,
        "b": 1,
        "c": 3,
    }


def test_a_method_alone_has_no_rank() -> None:
    assert ranked({"a": [0.8, 0.9], "b": []})["a"].rank is None


def test_the_best_is_starred_when_it_beats_the_best_other_beyond_chance() -> None:
    column = ranked({"a": [0.80, 0.81, 0.82], "b": [0.50, 0.51, 0.52], "c": [0.10, 0.11, 0.12]})
    test = column["a"].test
    assert isinstance(test, Test)
    assert test.difference == pytest.approx(0.3)  # from b, not from c
    # b and c differ from a beyond chance as well, but are not the best.
    assert [method for method, cell in column.items() if cell.significantly_best] == ["a"]


def test_the_best_is_not_starred_within_chance() -> None:
    best = ranked({"a": [0.4, 0.8, 0.6], "b": [0.5, 0.7, 0.55]})["a"]
    assert best.rank == 1
    assert not best.significantly_best


@given(st.dictionaries(st.text(max_size=2), st.integers(100, 300).map(lambda x: x / 100)))
def test_of_a_perplexity_the_lowest_is_best(means: dict[str, float]) -> None:
    negated = {name: -mean for name, mean in means.items()}
    assert ranks(PERPLEXITY, means) == ranks(metric("chrf"), negated)


def test_a_perplexity_is_tested_on_its_logarithm_and_starred_when_lower() -> None:
    low, middle, high = [7.0, 7.5, 8.0], [10.0, 12.0, 11.0], [30.0, 33.0, 31.0]
    column = ranked({"low": low, "middle": middle, "high": high}, PERPLEXITY)
    expected = ttest_ind(np.log(low), np.log(middle), equal_var=False)
    test = column["low"].test
    assert isinstance(test, Test)
    assert (test.statistic, test.p) == pytest.approx((expected.statistic, expected.pvalue))
    assert [name for name, cell in column.items() if cell.significantly_best] == ["low"]


def test_the_highest_perplexity_is_never_starred() -> None:
    worst = ranked({"a": [7.0, 7.1, 7.2], "b": [30.0, 31.0, 32.0]}, PERPLEXITY)["b"]
    assert isinstance(worst.test, Test)
    assert worst.test.significant
    assert not worst.significantly_best


@pytest.mark.parametrize(
    ("accuracies", "reason"),
    [
        ({"a": [0.8], "b": [0.5]}, "one seed, and no verdicts of its items are stored"),
        ({"a": [0.8, 0.9], "b": [0.5, 0.6]}, "two seeds, and a test over seeds needs three"),
        ({"a": [0.8] * 3, "b": [0.5] * 3}, "no spread over seeds"),
        ({"a": [0.80, 0.81, 0.82], "b": [0.50, 0.51]}, "seeds are missing"),
        ({"a": [0.80, 0.81], "b": [0.50, 0.51], "c": [0.1, 0.2, 0.3]}, "seeds are missing"),
        ({"a": [0.80, 0.81], "b": []}, "no other method"),
        ({"a": [0.80, 0.81]}, "no other method"),
    ],
)
def test_a_test_that_cannot_be_made_is_withheld_with_its_reason(
    accuracies: dict[str, list[float]], reason: str
) -> None:
    best = ranked(accuracies)["a"]
    assert best.test == Undefined(reason, withheld=reason == "seeds are missing")
    assert not best.significantly_best
