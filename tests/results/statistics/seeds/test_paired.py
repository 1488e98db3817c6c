"""The paired t-test against derivations by hand and against scipy."""

from math import pi, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr, ttest_rel

from results.statistics.power import detectable
from results.statistics.seeds.paired import paired
from results.statistics.test import Alternative, Test, Undefined

Pairs = list[tuple[float, float]]
shares = st.integers(0, 1000).map(lambda right: right / 1000)
pairs = st.lists(st.tuples(shares, shares), min_size=2, max_size=8)


def made(both: Pairs, alternative: Alternative = "two-sided") -> Test | Undefined:
    a, b = (dict(enumerate(column)) for column in zip(*both, strict=True))
    return paired(a, b, alternative)


def vary(both: Pairs) -> bool:
    differences = [a - b for a, b in both]
    return max(differences) - min(differences) > 1e-6


def test_it_matches_a_derivation_by_hand() -> None:
    # Differences 1, 2, 3: mean 2, variance 1, error 1 / sqrt(3), t = 2 sqrt(3). With two degrees of
    # freedom p = 1 - t / sqrt(2 + t^2), which is 1 - sqrt(12 / 14). The effect is 2 J(2), and
    # J(2) = 1 / sqrt(pi). The correlation of (5, 6, 10) and (4, 4, 7): 9 / sqrt(14 * 6).
    result = made([(5.0, 4.0), (6.0, 4.0), (10.0, 7.0)])
    assert isinstance(result, Test)
    assert (result.difference, result.df, result.n) == (2.0, 2, (3, 3))
    assert result.statistic == pytest.approx(2 * sqrt(3))
    assert result.p == pytest.approx(1 - sqrt(12 / 14))
    assert result.effect == pytest.approx(2 / sqrt(pi))
    assert result.correlation == pytest.approx(9 / sqrt(84))


def test_the_sleep_of_ten_patients_is_students_own_example() -> None:
    # "Student", 1908, section 9: additional hours of sleep by two drugs, mean difference 1.58, SD
    # 1.17 by n. With n - 1 that is t = 1.58 / (1.17 / 3) = 4.05; the exact figure is 4.0621.
    dextro = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    laevo = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    result = made(list(zip(laevo, dextro, strict=True)))
    assert isinstance(result, Test)
    assert result.difference == pytest.approx(1.58)
    assert result.statistic == pytest.approx(4.0621, abs=5e-5)
    assert result.p == pytest.approx(0.00283, abs=5e-6)


@given(pairs.filter(vary))
def test_it_agrees_with_scipy(both: Pairs) -> None:
    a, b = zip(*both, strict=True)
    ours, scipys = made(both), ttest_rel(a, b)
    assert isinstance(ours, Test)
    assert (ours.statistic, ours.p) == pytest.approx(
        (scipys.statistic, scipys.pvalue), rel=1e-6, abs=1e-9
    )
    assert ours.interval == pytest.approx(tuple(scipys.confidence_interval()), rel=1e-6, abs=1e-9)
    one_sided = made(both, "greater")
    assert isinstance(one_sided, Test)
    expected = ttest_rel(a, b, alternative="greater").pvalue
    assert one_sided.p == pytest.approx(expected, rel=1e-6, abs=1e-12)


@given(
    pairs.filter(vary).filter(lambda both: all(len(set(x)) > 1 for x in zip(*both, strict=True)))
)
def test_the_correlation_is_that_of_pearson(both: Pairs) -> None:
    ours = made(both)
    assert isinstance(ours, Test)
    a, b = zip(*both, strict=True)
    if len(both) > 2:
        assert ours.correlation == pytest.approx(pearsonr(a, b).statistic, abs=1e-6)


@given(pairs.filter(vary), st.lists(st.floats(-10, 10), min_size=8, max_size=8))
def test_what_a_seed_adds_to_both_methods_changes_no_p(both: Pairs, shifts: list[float]) -> None:
    moved = [(a + shift, b + shift) for (a, b), shift in zip(both, shifts, strict=False)]
    one, other = made(both), made(moved)
    assert isinstance(one, Test)
    assert isinstance(other, Test)
    assert other.p == pytest.approx(one.p, rel=1e-6, abs=1e-9)


def test_five_seeds_detect_the_published_multiple_of_the_sd_of_their_differences() -> None:
    # Differences 0, 1, 2, 3, 4 have the variance 10 / 4.
    result = made([(float(i), 0.0) for i in range(5)])
    assert isinstance(result, Test)
    assert detectable(result) == pytest.approx(1.68 * sqrt(2.5), abs=0.005 * sqrt(2.5))


def test_a_method_without_spread_has_no_correlation() -> None:
    result = made([(0.1, 0.5), (0.2, 0.5), (0.4, 0.5)])
    assert isinstance(result, Test)
    assert result.correlation is None


def test_other_seeds_withhold_it() -> None:
    expected = Undefined("the two have other seeds", withheld=True)
    assert paired({1: 0.1, 2: 0.2}, {1: 0.1, 2: 0.3, 3: 0.4}) == expected


@pytest.mark.parametrize(
    ("both", "reason"),
    [
        ([(0.1, 0.2)], "one seed"),
        ([(0.1, 0.2), (float("inf"), 0.3)], "a score is not finite"),
        ([(0.1, 0.2), (0.3, float("nan"))], "a score is not finite"),
        # The same difference but for rounding: 0.3 - 0.1, 0.4 - 0.2, 0.9 - 0.7.
        ([(0.3, 0.1), (0.4, 0.2), (0.9, 0.7)], "no spread of the differences"),
        ([(0.5, 0.5), (0.6, 0.6)], "no spread of the differences"),
    ],
)
def test_degenerate_numbers_are_undefined(both: Pairs, reason: str) -> None:
    assert made(both) == Undefined(reason)
