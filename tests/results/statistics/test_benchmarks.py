"""Wilcoxon's test, against scipy's exact one, and all signs of tied ranks written out."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from results.statistics.benchmarks import wilcoxon
from results.statistics.test import Alternative, Test, Undefined

alternatives = st.sampled_from(["two-sided", "greater"])


def outcome(differences: list[float], alternative: Alternative) -> Test:
    a = {f"b{i}": d for i, d in enumerate(differences)}
    result = wilcoxon(a, dict.fromkeys(a, 0.0), alternative)
    assert isinstance(result, Test)
    return result


@given(
    st.lists(st.integers(1, 1000), min_size=1, max_size=20, unique=True),
    st.randoms(use_true_random=False),
    alternatives,
)
def test_without_ties_it_is_scipys_exact_test(
    sizes: list[int], random: object, alternative: Alternative
) -> None:
    signed = [float(size * random.choice((1, -1))) for size in sizes]  # type: ignore[attr-defined]
    expected = stats.wilcoxon(signed, alternative=alternative, method="exact").pvalue
    assert outcome(signed, alternative).p == pytest.approx(expected)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=8).filter(any), alternatives)
def test_with_ties_p_is_the_share_of_all_signs_that_are_as_extreme(
    differences: list[int], alternative: Alternative
) -> None:
    apart = [d for d in differences if d]
    ranks = stats.rankdata([abs(d) for d in apart])
    w = sum(r for r, d in zip(ranks, apart, strict=True) if d > 0)
    sums = [
        sum(r for r, sign in zip(ranks, signs, strict=True) if sign)
        for signs in product((0, 1), repeat=len(apart))
    ]
    above, below = (sum(s >= w for s in sums), sum(s <= w for s in sums))
    extreme = above if alternative == "greater" else min(len(sums), 2 * min(above, below))
    result = outcome([float(d) for d in differences], alternative)
    assert result.p == pytest.approx(extreme / len(sums))
    assert result.difference == pytest.approx(sum(differences) / len(differences))


def test_five_benchmarks_cannot_reach_the_level() -> None:
    five = outcome([0.1, 0.2, 0.3, 0.4, 0.5], "two-sided")
    assert five.p == five.smallest_p == 0.0625
    assert not five.possible
    assert five.claim == "benchmarks"


def test_equal_differences_are_told_apart_by_no_rounding() -> None:
    # 0.3 - 0.1 and 0.5 - 0.3 differ in the last bit, and are one rank.
    a, b = {"x": 0.3, "y": 0.3, "z": 0.2}, {"x": 0.1, "y": 0.5, "z": 0.2}
    result = wilcoxon(a, b)
    assert isinstance(result, Test)
    assert result.p == 1.0


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        ({"x": 0.5}, {"y": 0.5}, Undefined("other benchmarks", withheld=True)),
        ({"x": 0.5}, {"x": 0.5}, Undefined("no benchmark tells the two apart")),
        ({}, {}, Undefined("no benchmark tells the two apart")),
        ({"x": 0.5}, {"x": float("nan")}, Undefined("the score of a benchmark is not finite")),
        ({"x": float("inf")}, {"x": 1.0}, Undefined("the score of a benchmark is not finite")),
    ],
)
def test_what_has_no_answer_is_undefined_with_the_reason(
    a: dict[str, float], b: dict[str, float], why: Undefined
) -> None:
    assert wilcoxon(a, b) == why
