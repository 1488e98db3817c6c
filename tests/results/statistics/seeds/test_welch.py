"""Welch's test, against numbers worked out apart from the code."""

from dataclasses import replace
from math import pi
from random import Random
from statistics import stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from results.statistics.power import detectable
from results.statistics.seeds.welch import NAME, welch
from results.statistics.test import Test, Undefined


def test_welch_matches_a_derivation_by_hand() -> None:
    # Means 4 and 1; variances 4 and 1 (n - 1); squared errors 4/3 and 1/3, together 5/3.
    # t = 3 / sqrt(5/3); df = (5/3)^2 / ((4/3)^2 / 2 + (1/3)^2 / 2) = (25/9) / (17/18) = 50/17.
    result = welch([2.0, 4.0, 6.0], [0.0, 1.0, 2.0])
    assert isinstance(result, Test)
    assert result.difference == 3.0
    assert result.statistic == pytest.approx(3 / (5 / 3) ** 0.5)
    assert result.df == pytest.approx(50 / 17)
    assert result.n == (3, 3)


def test_p_follows_the_closed_form_of_one_degree_of_freedom() -> None:
    # [3, 5] against a constant has df 1, where t is Cauchy: p = 1 - 2 atan(t) / pi, and the
    # 97.5 % point is tan(0.475 pi) = 12.7062.
    result = welch([3.0, 5.0], [1.0, 1.0])
    assert isinstance(result, Test)
    assert result.p == pytest.approx(0.2048327646991335)  # t = 3
    assert result.interval == pytest.approx((3 - 12.7062047, 3 + 12.7062047))


accuracies = st.lists(st.integers(0, 1000).map(lambda right: right / 1000), min_size=2, max_size=6)


def spread(values: list[float]) -> bool:
    return len(set(values)) > 1


@given(accuracies.filter(spread), accuracies.filter(spread))
def test_welch_agrees_with_scipy(a: list[float], b: list[float]) -> None:
    ours, scipys = welch(a, b), ttest_ind(a, b, equal_var=False)
    assert isinstance(ours, Test)
    assert (ours.statistic, ours.p, ours.df) == pytest.approx(
        (scipys.statistic, scipys.pvalue, scipys.df), rel=1e-6, abs=1e-9
    )
    assert ours.interval == pytest.approx(tuple(scipys.confidence_interval()), rel=1e-6, abs=1e-9)


@given(accuracies, accuracies)
def test_welch_is_symmetric_but_for_the_sign(a: list[float], b: list[float]) -> None:
    one, other = welch(a, b), welch(b, a)
    if isinstance(one, Test) and isinstance(other, Test):
        assert one.p == pytest.approx(other.p)
        assert one.difference == -other.difference
    else:
        assert one == other


@given(accuracies, accuracies, st.randoms(use_true_random=False))
def test_the_order_of_the_seeds_does_not_matter(
    a: list[float], b: list[float], random: Random
) -> None:
    shuffled = random.sample(a, len(a))
    assert welch(shuffled, b) == welch(a, b)


@pytest.mark.parametrize(("a", "b"), [([0.5], [0.1, 0.2]), ([0.1, 0.2], []), ([0.5], [0.5])])
def test_one_seed_makes_no_test(a: list[float], b: list[float]) -> None:
    assert welch(a, b) == Undefined("one seed")


def noise(value: float) -> list[float]:
    return [value, value + 1e-16, value - 1e-16]


@pytest.mark.parametrize(("a", "b"), [([0.5] * 5, [0.4] * 5), (noise(0.7), noise(0.3))])
def test_constant_seeds_are_undefined_and_not_significant(a: list[float], b: list[float]) -> None:
    assert welch(a, b) == Undefined("no spread over seeds")


def test_one_constant_group_can_still_be_tested() -> None:
    assert isinstance(welch([0.5, 0.5], [0.3, 0.4]), Test)


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), -float("inf"), 1e300])
def test_a_number_that_is_not_finite_makes_no_test(odd: float) -> None:
    assert welch([0.5, odd, 0.6], [0.1, 0.2]) == Undefined("a score is not finite")


def test_one_sided_is_half_of_p_on_the_declared_side_and_the_same_interval() -> None:
    a, b = [0.80, 0.82, 0.85], [0.79, 0.80, 0.81]
    both, right, wrong = welch(a, b), welch(a, b, "greater"), welch(b, a, "greater")
    assert isinstance(both, Test)
    assert isinstance(right, Test)
    assert isinstance(wrong, Test)
    assert right.p == pytest.approx(both.p / 2)
    assert wrong.p == pytest.approx(1 - both.p / 2)
    assert right.interval == both.interval
    assert (both.name, right.name) == (NAME, "Welch's one-sided t-test")


@given(accuracies.filter(spread), accuracies.filter(spread))
def test_one_sided_agrees_with_scipy(a: list[float], b: list[float]) -> None:
    ours, scipys = welch(a, b, "greater"), ttest_ind(a, b, equal_var=False, alternative="greater")
    assert isinstance(ours, Test)
    assert ours.p == pytest.approx(scipys.pvalue, rel=1e-6)


@given(accuracies.filter(spread), accuracies, st.floats(-100, 100), st.integers(-10, 10))
def test_shift_and_scale_change_no_p_and_no_effect(
    a: list[float], b: list[float], shift: float, power: int
) -> None:
    one = welch(a, b)
    other = welch([shift + 2.0**power * x for x in a], [shift + 2.0**power * x for x in b])
    assert isinstance(one, Test)
    assert isinstance(other, Test)
    assert (other.p, other.effect) == pytest.approx((one.p, one.effect), rel=1e-6, abs=1e-9)
    assert detectable(other) == pytest.approx(2.0**power * (detectable(one) or 0))


def test_the_effect_is_in_units_of_the_pooled_spread() -> None:
    # Variances 4 and 1, pooled 2.5. Difference 3, so 3 / sqrt(2.5) = 1.8974; four degrees of
    # freedom: J = Gamma(2) / (sqrt(2) Gamma(3/2)) = sqrt(2 / pi) = 0.79788.
    result = welch([2.0, 4.0, 6.0], [0.0, 1.0, 2.0])
    assert isinstance(result, Test)
    assert result.effect == pytest.approx(3 / 2.5**0.5 * (2 / pi) ** 0.5)


@pytest.mark.parametrize(("n", "in_sd"), [(3, 3.07), (5, 2.02), (10, 1.32), (20, 0.91)])
def test_the_detectable_difference_is_the_published_one(n: int, in_sd: float) -> None:
    values = [float(i) for i in range(n)]
    result = welch(values, [value + 7 for value in values])
    assert isinstance(result, Test)
    assert detectable(result) == pytest.approx(in_sd * stdev(values), abs=0.005 * stdev(values))


def test_an_adjusted_p_decides_over_the_raw_one() -> None:
    raw = welch([0.80, 0.81, 0.82], [0.50, 0.51, 0.52])
    assert isinstance(raw, Test)
    assert raw.significant
    assert not replace(raw, adjusted=0.2).significant
