"""A difference and its error, where the tests that use it do not reach."""

import pytest
from scipy.stats import t as student

from results.statistics.estimate import Estimate
from results.statistics.power import detectable


def test_tails_far_out_keep_their_digits() -> None:
    # One degree of freedom is Cauchy: P(|T| > t) is 2 / (pi t) for large t.
    assert Estimate(1e8, 1.0, 1).p() == pytest.approx(6.366197723675814e-9)
    # Of eight degrees of freedom it falls as t^-8: sixteen times as far is 2^32 times as rare.
    assert Estimate(1e6, 1.0, 8).p() / Estimate(16e6, 1.0, 8).p() == pytest.approx(2**32)


@pytest.mark.parametrize("df", [0.3, 0.9])
def test_below_one_degree_of_freedom_there_is_a_p_and_no_detectable_difference(df: float) -> None:
    test = Estimate(2.0, 1.0, df).test("t", "seeds and items", (2, 2), "two-sided")
    assert test.p == pytest.approx(2 * student.sf(2.0, df))
    assert detectable(test) is None


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_an_interval_holds_the_share_of_its_level(level: float) -> None:
    low, high = Estimate(0.0, 1.0, 4.5).interval(level)
    assert student.cdf(high, 4.5) - student.cdf(low, 4.5) == pytest.approx(level)
