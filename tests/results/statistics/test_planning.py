"""How many seeds and items a difference needs, against published figures and simulation."""

from math import ceil, exp, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2, norm

from results.statistics.planning import Needed, items_needed, seeds_needed
from results.statistics.power import power
from results.statistics.test import Undefined


def of_sd(sd: float) -> list[list[float]]:
    """Give numbers of an SD: -1, 0 and 1 have the SD 1."""
    return [[-sd, 0.0, sd]]


@pytest.mark.parametrize(("delta", "n"), [(3.08, 3), (2.03, 5), (1.33, 10), (0.91, 20)])
def test_seeds_needed_are_the_published_ones(delta: float, n: int) -> None:
    # Detectable at n = 3, 5, 10 and 20: 3.07, 2.02, 1.32 and 0.91 SD, here rounded up.
    found = seeds_needed(delta, of_sd(1.0))
    assert isinstance(found, Needed)
    assert found.n == n


@given(st.floats(0.05, 3), st.floats(0.2, 5))
def test_no_smaller_number_of_seeds_is_enough(delta: float, sd: float) -> None:
    found = seeds_needed(delta, of_sd(sd))
    assert isinstance(found, Needed)

    def reached(n: int) -> float:
        return power(delta, sd * sqrt(2 / n), 2 * n - 2)

    assert reached(found.n) >= 0.8 - 1e-5
    assert found.n == 3 or reached(found.n - 1) < 0.8 + 1e-5
    assert 3 <= found.low <= found.n <= found.high


def test_the_range_is_that_of_the_variance() -> None:
    # One method, two degrees of freedom: the variance 1 may be 2 / 7.38 to 2 / 0.0506.
    found = seeds_needed(0.5, of_sd(1.0))
    assert isinstance(found, Needed)
    ends = [sqrt(2 / float(chi2.ppf(tail, 2))) for tail in (0.975, 0.025)]
    low, high = (seeds_needed(0.5, of_sd(end)) for end in ends)
    assert isinstance(low, Needed)
    assert isinstance(high, Needed)
    assert (found.low, found.high) == (low.n, high.n)


def test_variances_of_methods_are_pooled_by_their_degrees_of_freedom() -> None:
    # Variances 2 and 1 with one and two degrees of freedom: 4 / 3. A lone seed says nothing.
    found = seeds_needed(1.0, [[0.0, 2.0], [4.0, 5.0, 6.0], [9.0]])
    pooled = seeds_needed(1.0, of_sd(sqrt(4 / 3)))
    assert isinstance(found, Needed)
    assert isinstance(pooled, Needed)
    assert found.n == pooled.n
    assert found.high < pooled.high  # three degrees of freedom against two


def test_items_needed_are_those_of_the_normal_approximation() -> None:
    # 50 of 500 items tell the models apart, 30 one way: s^2 = (50 - 10^2 / 500) / 499 = 0.0998.
    # (1.96 + 0.8416)^2 s^2 / 0.02^2 = 1958.3; the t of so many adds two.
    differences = [1.0] * 30 + [-1.0] * 20 + [0.0] * 450
    found = items_needed(0.02, differences)
    assert isinstance(found, Needed)
    square = (50 - 10**2 / 500) / 499
    normal = (float(norm.ppf(0.975)) + float(norm.ppf(0.8))) ** 2 * square / 0.02**2
    assert ceil(normal) <= found.n <= ceil(normal) + 3


def test_the_range_of_items_covers_what_the_true_variance_needs() -> None:
    # Items that one model alone gets right: a share of 0.06 and 0.04, variance 0.1 - 0.02^2.
    rng = np.random.default_rng(3)
    draws = rng.choice([1.0, -1.0, 0.0], p=[0.06, 0.04, 0.9], size=(300, 400)).tolist()
    normal = (float(norm.ppf(0.975)) + float(norm.ppf(0.8))) ** 2 * (0.1 - 0.02**2) / 0.05**2
    found = [items_needed(0.05, one) for one in draws]
    covered = [isinstance(one, Needed) and one.low <= normal + 2 <= one.high for one in found]
    assert 0.91 <= sum(covered) / len(covered) <= 0.99  # 0.95, within three errors


def test_few_items_leave_a_range_whatever_their_kurtosis() -> None:
    # Half of the items differ: the kurtosis is 1, the least there is. The variance of s^2 is then
    # s^4 (1 - 37 / 39) / 40, so that 1.96 of its errors are 7 %.
    found = items_needed(0.05, [1.0] * 20 + [0.0] * 20)
    assert isinstance(found, Needed)
    assert found.high / found.n == pytest.approx(exp(1.96 * sqrt((1 - 37 / 39) / 40)), rel=0.01)
    assert found.low < found.n < found.high


@pytest.mark.parametrize(
    ("samples", "reason"),
    [
        ([[0.5], [0.6]], "one seed"),
        ([], "one seed"),
        ([[0.5, 0.5], [0.6, 0.6]], "no spread over seeds"),
        ([[0.5, float("inf")]], "a score is not finite"),
    ],
)
def test_without_a_variance_nothing_is_planned(samples: list[list[float]], reason: str) -> None:
    assert seeds_needed(1.0, samples) == Undefined(reason)


@pytest.mark.parametrize(
    ("differences", "reason"),
    [
        ([], "too few items"),
        ([0.0] * 100, "no spread over items"),
        ([0.0, 1.0, float("nan")], "the score of an item is not finite"),
    ],
)
def test_items_that_tell_nothing_plan_nothing(differences: list[float], reason: str) -> None:
    assert items_needed(0.01, differences) == Undefined(reason)
