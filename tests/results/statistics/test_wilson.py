"""Wilson's interval against scipy's, which is an implementation of its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from results.statistics import wilson


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_it_is_what_scipy_finds(counts: tuple[int, int]) -> None:
    right, n = counts
    expected = binomtest(right, n).proportion_ci(0.95, method="wilson")
    assert wilson.interval(right / n, n) == pytest.approx((expected.low, expected.high), abs=1e-9)


@given(st.floats(0, 1), st.integers(1, 10_000))
def test_it_holds_the_share_and_lies_between_0_and_1(share: float, n: int) -> None:
    low, high = wilson.interval(share, n)
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1
