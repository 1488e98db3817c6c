"""The corrected t-test over folds, against sums in exact fractions."""

from fractions import Fraction
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student
from scipy.stats import ttest_rel

from results.statistics.seeds.folds import ByFold, folds
from results.statistics.test import Test, Undefined

rights = st.lists(st.integers(0, 200), min_size=10, max_size=10)


def one_seed(values: list[float]) -> ByFold:
    return {fold: {2333: value} for fold, value in enumerate(values)}


def corrected(differences: list[Fraction], test_to_train: Fraction) -> float:
    """t, by the formula of Nadeau and Bengio in exact fractions."""
    k = len(differences)
    mean = sum(differences, Fraction()) / k
    square = sum(((one - mean) ** 2 for one in differences), Fraction()) / (k - 1)
    return float(mean) / sqrt((Fraction(1, k) + test_to_train) * square)


def test_five_folds_match_a_derivation_by_hand() -> None:
    # Differences 1, 2, 3, 4, 5: mean 3, variance 10 / 4. Factor 1/5 + 1/4 = 9/20, so the squared
    # error is 9/8 and t = 3 / sqrt(9/8) = 2 sqrt(2). Of four degrees of freedom, P(T > t) is
    # 1/2 - 3 u / 4 + u^3 / 4 with u = t / sqrt(4 + t^2) = sqrt(2/3).
    result = folds(one_seed([2, 4, 6, 8, 10]), one_seed([1, 2, 3, 4, 5]), range(5), 0.25)
    assert isinstance(result, Test)
    assert (result.df, result.n, result.claim) == (4, (5, 5), "seeds and items")
    assert result.statistic == pytest.approx(2 * sqrt(2))
    u = sqrt(2 / 3)
    assert result.p == pytest.approx(2 * (1 / 2 - 3 * u / 4 + u**3 / 4))


@given(rights, st.fractions(Fraction(1, 100), 2), st.integers(2, 10))
def test_t_and_p_follow_the_formula(rights: list[int], ratio: Fraction, k: int) -> None:
    numbers = [Fraction(right, 200) for right in rights[:k]]
    result = folds(
        one_seed([float(one) for one in numbers]), one_seed([0.0] * k), range(k), float(ratio)
    )
    if len(set(numbers)) > 1:
        assert isinstance(result, Test)
        t = corrected(numbers, ratio)
        assert result.statistic == pytest.approx(t)
        assert result.p == pytest.approx(2 * float(student.sf(abs(t), k - 1)), rel=1e-6)
    else:
        assert result == Undefined("no spread of the differences")


@given(rights.filter(lambda x: len(set(x)) > 1), rights)
def test_without_the_correction_it_is_the_paired_t_test_and_with_it_p_is_larger(
    a: list[int], b: list[int]
) -> None:
    naive = folds(one_seed(list(a)), one_seed(list(b)), range(10), 0.0)
    fair = folds(one_seed(list(a)), one_seed(list(b)), range(10), 1 / 9)
    if isinstance(naive, Test) and isinstance(fair, Test):
        assert naive.p == pytest.approx(ttest_rel(a, b).pvalue)
        assert fair.p >= naive.p


def test_several_seeds_of_a_fold_are_averaged_first() -> None:
    a = {0: {1: 0.50, 2: 0.60}, 1: {1: 0.70, 2: 0.80}, 2: {1: 0.40, 2: 0.60}}
    b = {0: {1: 0.40, 2: 0.40}, 1: {1: 0.70, 2: 0.70}, 2: {1: 0.20, 2: 0.30}}
    averaged = folds(one_seed([0.55, 0.75, 0.50]), one_seed([0.40, 0.70, 0.25]), range(3), 0.5)
    both = folds(a, b, range(3), 0.5)
    assert isinstance(both, Test)
    assert isinstance(averaged, Test)
    assert both.n == (3, 3)
    assert (both.statistic, both.p) == pytest.approx((averaged.statistic, averaged.p))


def test_k_is_the_number_of_planned_folds_and_a_missing_one_withholds_the_test() -> None:
    a, b = one_seed([0.5, 0.6, 0.8]), one_seed([0.4, 0.3, 0.5])
    missing = Undefined("a fold is missing", withheld=True)
    assert folds(a, b, range(4), 0.25) == missing
    assert folds(a, {**b, 1: {}}, range(3), 0.25) == missing


def test_seeds_that_one_of_the_two_lacks_withhold_the_test() -> None:
    a, b = one_seed([0.5, 0.6, 0.8]), one_seed([0.4, 0.3, 0.5])
    other = {**b, 1: {1000: 0.3}}
    assert folds(a, other, range(3), 0.5) == Undefined("the two have other seeds", withheld=True)


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ([0.5], [0.4], "one fold"),
        ([0.5, float("inf")], [0.4, 0.3], "a score is not finite"),
        ([0.5, float("nan")], [0.4, 0.3], "a score is not finite"),
        ([0.3, 0.4, 0.9], [0.1, 0.2, 0.7], "no spread of the differences"),
    ],
)
def test_degenerate_folds_are_undefined(a: list[float], b: list[float], reason: str) -> None:
    assert folds(one_seed(a), one_seed(b), range(len(a)), 0.25) == Undefined(reason)


def test_the_correction_keeps_the_level_that_the_naive_test_exceeds() -> None:
    # Five folds whose differences correlate by 0.2, as n_test / (n_test + n_train) = 1/5 supposes.
    rng = np.random.default_rng(5)
    shared, own = rng.normal(size=(2000, 1)), rng.normal(size=(2000, 5))
    draws = (sqrt(0.2) * shared + sqrt(0.8) * own).tolist()

    def alarms(test_to_train: float) -> float:
        made = [folds(one_seed(one), one_seed([0.0] * 5), range(5), test_to_train) for one in draws]
        return sum(isinstance(one, Test) and one.significant for one in made) / len(made)

    assert alarms(0.25) == pytest.approx(0.05, abs=3 * sqrt(0.05 * 0.95 / 2000))
    assert alarms(0.0) > 0.09
