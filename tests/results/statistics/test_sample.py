"""Mean, standard deviation and interval of a few seeds."""

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_1samp

from results.statistics.sample import sample, variance


def test_the_standard_deviation_divides_by_n_minus_one() -> None:
    # By hand: mean 4, squares 4 + 0 + 4 = 8, 8 / 2 = 4, root 2.
    assert sample({1: 2.0, 2: 4.0, 3: 6.0}).sd == 2.0


def test_no_seed_has_no_mean() -> None:
    assert sample({}).mean is None


def test_the_interval_of_two_seeds_is_by_the_t_of_one_degree_of_freedom() -> None:
    # Mean 4, error sqrt(2) / sqrt(2) = 1, 97.5 % point tan(0.475 pi) = 12.7062047.
    assert sample({1: 3.0, 2: 5.0}).interval == pytest.approx((4 - 12.7062047, 4 + 12.7062047))


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=8).filter(lambda x: len(set(x)) > 1))
def test_the_interval_is_what_scipy_finds(right: list[int]) -> None:
    shares = [one / 1000 for one in right]
    expected = ttest_1samp(shares, 0).confidence_interval()
    assert sample(dict(enumerate(shares))).interval == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("values", [[], [0.5], [0.5, 0.5], [0.7, 0.7 + 1e-16, 0.7 - 1e-16]])
def test_without_spread_there_is_no_interval(values: list[float]) -> None:
    assert sample(dict(enumerate(values))).interval is None


@given(st.lists(st.floats(), max_size=5))
def test_any_numbers_can_be_described(values: list[float]) -> None:
    one = sample(dict(enumerate(values)))
    assert (one.mean is None) <= (one.sd is None) <= (one.interval is None)


@pytest.mark.parametrize("odd", [float("nan"), float("inf"), -float("inf")])
def test_a_number_that_is_not_finite_leaves_nothing_to_describe(odd: float) -> None:
    one = sample({1: 0.5, 2: odd})
    assert (one.mean, one.sd, one.interval) == (None, None, None)


NUMBERS = st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=2, max_size=12)


@given(NUMBERS)
def test_the_variance_is_that_of_exact_fractions(values: list[float]) -> None:
    # Rounding is relative to the largest difference, as the squares are.
    largest = max(values) - min(values)
    exact = statistics.variance(values)
    assert variance(values) == pytest.approx(exact, rel=1e-9, abs=1e-24 + 1e-12 * largest**2)


@given(st.floats(-1e6, 1e6), st.integers(2, 12))
def test_equal_numbers_have_no_variance(value: float, n: int) -> None:
    assert variance([value] * n) == 0
