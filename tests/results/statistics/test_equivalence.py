"""Two one-sided tests, against scipy's one-sided tests and closed forms."""

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from results.statistics.equivalence import Equivalence, equivalence, of_test
from results.statistics.seeds.paired import paired
from results.statistics.seeds.permutation import permutation
from results.statistics.seeds.welch import welch
from results.statistics.test import Test, Undefined

numbers = st.floats(-5, 5), st.floats(0.01, 5), st.floats(1, 100), st.floats(0.01, 10)


def test_two_degrees_of_freedom_follow_the_closed_form() -> None:
    # Nearer end: t = (1 - 0.2) / 0.25 = 3.2; P(T > t) = (1 - t / sqrt(2 + t^2)) / 2. The 95 % point
    # is 2.919986, so the smallest margin is a quarter of it.
    result = equivalence(0.2, 0.25, 2, margin=1.0)
    assert result.p == pytest.approx((1 - 3.2 / sqrt(2 + 3.2**2)) / 2)
    assert result.equivalent
    assert result.smallest_margin == pytest.approx(2.919986 / 4)
    assert result.interval == pytest.approx((0.2 - 2.919986 / 4, 0.2 + 2.919986 / 4))


def test_of_pairs_it_is_the_larger_p_of_two_one_sided_tests_of_scipy() -> None:
    a, b = {1: 5.1, 2: 5.4, 3: 4.9, 4: 5.6}, {1: 5.0, 2: 5.5, 3: 4.7, 4: 5.5}
    differences = [a[seed] - b[seed] for seed in a]
    test = paired(a, b)
    assert isinstance(test, Test)
    result = of_test(test, margin=0.3)
    assert isinstance(result, Equivalence)
    above = ttest_1samp(differences, -0.3, alternative="greater").pvalue
    below = ttest_1samp(differences, 0.3, alternative="less").pvalue
    assert result.p == pytest.approx(max(above, below))


@given(*numbers)
def test_it_is_shown_exactly_if_the_interval_lies_within_the_margin(
    difference: float, error: float, df: float, margin: float
) -> None:
    result = equivalence(difference, error, df, margin)
    low, high = result.interval
    if abs(result.p - 0.05) > 1e-9:
        assert result.equivalent == (-margin < low and high < margin)


@given(*numbers)
def test_swapping_the_methods_changes_no_p(
    difference: float, error: float, df: float, margin: float
) -> None:
    one, other = (equivalence(sign * difference, error, df, margin) for sign in (1, -1))
    assert one.p == other.p


@given(*numbers)
def test_no_smaller_margin_can_be_shown_whatever_the_difference(
    difference: float, error: float, df: float, margin: float
) -> None:
    smallest = equivalence(0.0, error, df, margin).smallest_margin
    assert not equivalence(difference, error, df, smallest * (1 - 1e-9)).equivalent
    assert equivalence(0.0, error, df, smallest * (1 + 1e-6)).equivalent


def test_a_large_p_of_a_difference_shows_no_equivalence() -> None:
    test = welch([0.4, 0.8, 0.6], [0.5, 0.7, 0.55])
    assert isinstance(test, Test)
    assert not test.significant
    result = of_test(test, margin=0.05)
    assert isinstance(result, Equivalence)
    assert not result.equivalent


def test_a_test_without_standard_error_has_none() -> None:
    test = permutation({1: 0.1, 2: 0.2}, {1: 0.15, 2: 0.3})
    assert isinstance(test, Test)
    assert of_test(test, margin=0.1) == Undefined("equivalence needs a t-test")
