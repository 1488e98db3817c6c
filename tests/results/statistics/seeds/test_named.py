"""What holds of every test over seeds that has a name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.statistics.seeds import NAMED
from results.statistics.test import Alternative, Test, Undefined

named = pytest.mark.parametrize("name", NAMED)
sides: st.SearchStrategy[Alternative] = st.sampled_from(("two-sided", "greater"))
any_numbers = st.lists(st.tuples(st.floats(), st.floats()), max_size=6)
shares = st.integers(0, 1000).map(lambda right: right / 1000)
pairs = st.lists(st.tuples(shares, shares), min_size=2, max_size=6)


def made(
    name: str, both: list[tuple[float, float]], alternative: Alternative = "two-sided"
) -> Test | Undefined:
    a = {seed: pair[0] for seed, pair in enumerate(both)}
    b = {seed: pair[1] for seed, pair in enumerate(both)}
    return NAMED[name](a, b, alternative)


@named
@given(any_numbers, sides)
def test_any_numbers_give_a_p_above_0_or_a_reason(
    name: str, both: list[tuple[float, float]], alternative: Alternative
) -> None:
    result = made(name, both, alternative)
    assert isinstance(result, Undefined) or 0 < result.p <= 1


@named
@given(pairs, sides)
def test_no_p_is_below_the_smallest(
    name: str, both: list[tuple[float, float]], alternative: Alternative
) -> None:
    result = made(name, both, alternative)
    assert isinstance(result, Undefined) or result.p >= result.smallest_p


@named
@given(pairs)
def test_swapping_changes_the_sign_alone(name: str, both: list[tuple[float, float]]) -> None:
    one, other = made(name, both), made(name, [(b, a) for a, b in both])
    if isinstance(one, Test) and isinstance(other, Test):
        assert one.difference == pytest.approx(-other.difference)
        assert one.p == pytest.approx(other.p)
    else:
        assert one == other


@named
@given(pairs)
def test_the_two_sides_make_the_whole(name: str, both: list[tuple[float, float]]) -> None:
    result, greater = made(name, both), made(name, both, "greater")
    if isinstance(result, Test) and isinstance(greater, Test):
        towards = (
            greater if result.difference > 0 else made(name, [(b, a) for a, b in both], "greater")
        )
        assert isinstance(towards, Test)
        assert towards.p <= result.p + 1e-12
        assert result.p == pytest.approx(min(1.0, 2 * towards.p))
        assert "one-sided" in greater.name
        assert "two-sided" in result.name


@named
@pytest.mark.parametrize(
    "both",
    [
        [],
        [(0.5, 0.4)],
        [(0.5, 0.4)] * 5,
        [(0.5, 0.4), (0.6, float("nan"))],
        [(0.5, 0.4), (float("inf"), 0.3)],
        [(0.5, 0.4), (1e308, -1e308)],
    ],
)
def test_degenerate_numbers_are_undefined(name: str, both: list[tuple[float, float]]) -> None:
    assert isinstance(made(name, both), Undefined)
