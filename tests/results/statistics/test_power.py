"""Power against an integral of mpmath, against simulation, and against published figures."""

from math import pi, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf, ncdf, quad

from results.statistics.power import critical, hedges, noncentrality, power
from results.statistics.test import Alternative


def integral(noncentrality: float, df: float, t: float) -> float:
    """Integrate P(T > t) over the ratio s of the SD seen to the true one: chi / sqrt(df)."""
    half = mpf(df) / 2

    def density(s: mpf) -> mpf:
        return 2 * half**half / mp.gamma(half) * s ** (df - 1) * mp.exp(-half * s**2)

    missed = quad(
        lambda s: ncdf(t * s - noncentrality) * density(s), [0, 0.25, 0.5, 1, 1.5, 2, 4, 8]
    )
    return float(1 - missed)


@pytest.mark.parametrize("df", [1, 1.3, 2, 4, 7.6, 18, 198])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_the_detectable_difference_is_found_in_80_of_100(
    df: float, alternative: Alternative
) -> None:
    t = critical(df, alternative)
    assert integral(noncentrality(df, alternative), df, t) == pytest.approx(0.8, abs=1e-6)


@pytest.mark.parametrize(("difference", "df"), [(0.1, 8), (1, 2), (3, 4), (5, 7.6), (30, 1)])
def test_power_is_the_integral(difference: float, df: float) -> None:
    expected = integral(difference, df, critical(df))
    assert power(difference, 1.0, df) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("n", "level", "in_sd"),
    [(3, 0.05, 3.07), (5, 0.05, 2.02), (10, 0.05, 1.32), (20, 0.05, 0.91), (5, 0.005, 3.08)],
)
def test_two_groups_of_n_find_the_published_multiple_of_their_sd(
    n: int, level: float, in_sd: float
) -> None:
    # 0.005 is the strictest step of Holm for ten methods.
    found = noncentrality(2 * n - 2, level=level) * sqrt(2 / n)
    assert found == pytest.approx(in_sd, abs=0.005)


def test_five_pairs_find_the_published_multiple_of_the_sd_of_their_differences() -> None:
    assert noncentrality(4) / sqrt(5) == pytest.approx(1.68, abs=0.005)


def test_power_of_two_sd_at_five_seeds_is_what_simulation_gives() -> None:
    # Student's test on 40,000 draws of two groups of five, two SD apart.
    draws = np.random.default_rng(11).normal([[2.0], [0.0]], size=(40_000, 2, 5))
    means, variances = draws.mean(axis=2), draws.var(axis=2, ddof=1)
    t = (means[:, 0] - means[:, 1]) / np.sqrt(variances.sum(axis=1) / 5)
    share = float(np.mean(t > critical(8)))
    assert power(2.0, sqrt(2 / 5), 8) == pytest.approx(share, abs=3 * sqrt(0.16 / 40_000))


@pytest.mark.parametrize("df", [1, 4, 8, 1000, 1e9])
def test_a_huge_difference_is_always_found_and_none_as_often_as_the_level(df: float) -> None:
    assert power(1e6, 1.0, df) == 1.0
    assert power(0.0, 1.0, df) == pytest.approx(0.025)
    assert power(0.0, 1.0, df, "greater") == pytest.approx(0.05)


@given(st.floats(0, 50), st.floats(0, 5), st.floats(1, 200))
def test_a_larger_difference_is_found_more_often(small: float, more: float, df: float) -> None:
    assert 0 <= power(small, 1.0, df) <= power(small + more, 1.0, df) + 1e-9 <= 1 + 1e-9


def test_the_correction_of_small_samples_is_that_of_hedges() -> None:
    # Gamma(df / 2) / (sqrt(df / 2) Gamma((df - 1) / 2)), with Gamma(1/2) = sqrt(pi), Gamma(3/2) =
    # sqrt(pi) / 2 and Gamma(1) = Gamma(2) = 1. For many it is nearly 1 - 3 / (4 df - 1).
    closed = {2: 1 / sqrt(pi), 3: sqrt(pi / 6), 4: sqrt(2 / pi), 200: 1 - 3 / 799}
    assert {df: hedges(1.0, 1.0, df) for df in closed} == pytest.approx(closed, abs=1e-6)


def test_one_degree_of_freedom_has_no_effect_without_bias() -> None:
    assert hedges(1.0, 1.0, 1) is None
