"""The permutation test over seeds against counts by hand and of all relabelings."""

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test

from results.statistics.seeds.permutation import MOST, permutation
from results.statistics.test import Alternative, Test, Undefined

rights = st.lists(st.integers(0, 200), min_size=2, max_size=5)


def made(a: list[int], b: list[int], alternative: Alternative = "two-sided") -> Test | Undefined:
    """Test shares of 200 items."""
    first, second = (dict(enumerate(right / 200 for right in one)) for one in (a, b))
    return permutation(first, second, alternative)


def counted(a: list[int], b: list[int], alternative: Alternative) -> Fraction:
    """List all relabelings, in whole numbers: means times len(a) * len(b)."""
    runs = range(len(a) + len(b))
    numbers = [*a, *b]

    def difference(chosen: tuple[int, ...]) -> int:
        first = sum(numbers[i] for i in chosen)
        return first * len(b) - (sum(numbers) - first) * len(a)

    seen = difference(tuple(range(len(a))))
    every = [difference(chosen) for chosen in combinations(runs, len(a))]
    if alternative == "greater":
        return Fraction(sum(one >= seen for one in every), len(every))
    return Fraction(sum(abs(one) >= abs(seen) for one in every), len(every))


def test_three_and_three_apart_have_two_of_twenty_relabelings() -> None:
    # The one seen, and all labels exchanged.
    result = made([5, 6, 7], [1, 2, 3])
    assert isinstance(result, Test)
    assert result.p == result.smallest_p == 0.1
    assert not result.possible


@pytest.mark.parametrize(("n", "smallest"), [(3, 2 / 20), (4, 2 / 70), (5, 2 / 252)])
def test_the_smallest_p_is_two_of_all_relabelings(n: int, smallest: float) -> None:
    result = made(list(range(50, 50 + n)), list(range(n)))
    assert isinstance(result, Test)
    assert result.p == result.smallest_p == pytest.approx(smallest)
    one_sided = made(list(range(50, 50 + n)), list(range(n)), "greater")
    assert isinstance(one_sided, Test)
    assert one_sided.p == one_sided.smallest_p == pytest.approx(smallest / 2)


@given(rights, rights, st.sampled_from(("two-sided", "greater")))
def test_p_is_the_share_of_relabelings_that_are_as_extreme(
    a: list[int], b: list[int], alternative: Alternative
) -> None:
    result = made(a, b, alternative)
    if isinstance(result, Test):
        assert result.p == pytest.approx(float(counted(a, b, alternative)), rel=1e-12)
        assert result.smallest_p <= result.p <= 1


def test_seven_and_seven_agree_with_scipy() -> None:
    a, b = np.random.default_rng(7).normal([[0.6], [0.0]], size=(2, 7))
    scipys = permutation_test(
        (a, b), lambda x, y, axis: x.mean(axis) - y.mean(axis), n_resamples=10**6, vectorized=True
    )
    result = permutation(dict(enumerate(a.tolist())), dict(enumerate(b.tolist())))
    assert isinstance(result, Test)
    assert result.p == pytest.approx(scipys.pvalue)


@given(rights, rights, st.integers(0, 1000), st.integers(1, 20))
def test_shift_and_scale_change_no_p(a: list[int], b: list[int], shift: int, scale: int) -> None:
    one = made(a, b)
    other = made([shift + scale * x for x in a], [shift + scale * x for x in b])
    if isinstance(one, Test) and isinstance(other, Test):
        assert one.p == other.p
    else:
        assert one == other


def test_equal_shares_of_other_rounding_count_as_equal() -> None:
    # 0.1 + 0.2 and 0.3 differ in the last bit. Of the six relabelings, all but the two that put
    # both large ones together have the difference 0, and so has the one seen.
    result = permutation({1: 0.1 + 0.2, 2: 0.1}, {1: 0.3, 2: 0.1})
    assert isinstance(result, Test)
    assert result.p == 1.0


def test_forty_runs_are_counted_and_more_are_not() -> None:
    apart = {seed: 1 + seed / 100 for seed in range(20)}, {seed: seed / 100 for seed in range(20)}
    result = permutation(*apart)
    assert isinstance(result, Test)
    assert result.p == pytest.approx(2 / comb(40, 20))
    assert permutation({**apart[0], 20: 0.5}, apart[1]) == Undefined(
        f"more than {MOST} runs to permute"
    )


@pytest.mark.parametrize(
    ("a", "b", "reason"),
    [
        ([0.1], [0.2, 0.3], "one seed"),
        ([], [], "one seed"),
        ([0.1, float("nan")], [0.2, 0.3], "a score is not finite"),
        ([0.5] * 5, [0.4] * 5, "no spread over seeds"),
    ],
)
def test_degenerate_numbers_are_undefined(a: list[float], b: list[float], reason: str) -> None:
    assert permutation(dict(enumerate(a)), dict(enumerate(b))) == Undefined(reason)
