"""Rank sets, against cases worked out by hand and against what must hold of any."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.statistics.rank_sets import mostly_wide, rank_sets, top_band


def beyond(gap: float, merits: list[float]) -> list[list[bool]]:
    """Call a method significantly better where its merit is greater by more than `gap`."""
    return [[own > other + gap for other in merits] for own in merits]


merits = st.lists(st.integers(0, 20).map(float), min_size=1, max_size=22)


def test_two_clear_groups_share_two_sets() -> None:
    # 9 and 8 beat 2, 1 and 1; within a group nothing is told apart.
    assert rank_sets(beyond(3, [2, 9, 1, 8, 1])) == [(3, 5), (1, 2), (3, 5), (1, 2), (3, 5)]


def test_a_chain_of_small_gaps_has_overlapping_sets() -> None:
    # With a gap of 1.5, only the first and the last of 3, 2, 1 differ.
    assert rank_sets(beyond(1.5, [3, 2, 1])) == [(1, 2), (1, 3), (2, 3)]


def test_the_top_band_is_of_the_sets_that_hold_rank_1() -> None:
    assert top_band(rank_sets(beyond(1.5, [3, 2, 1]))) == [0, 1]


def test_one_method_has_rank_1() -> None:
    assert rank_sets([[False]]) == [(1, 1)]
    assert not mostly_wide([(1, 1)])


def test_without_a_method_there_are_no_sets() -> None:
    assert rank_sets([]) == []
    assert top_band([]) == []


@given(merits, st.floats(0, 10))
def test_a_set_lies_within_the_ranks_and_holds_the_rank_that_is_seen(
    merits: list[float], gap: float
) -> None:
    for own, (first, last) in zip(merits, rank_sets(beyond(gap, merits)), strict=True):
        seen = 1 + sum(other > own for other in merits)
        assert 1 <= first <= seen <= last <= len(merits)


@given(merits, st.floats(0, 10))
def test_the_best_is_in_the_top_band(merits: list[float], gap: float) -> None:
    assert merits.index(max(merits)) in top_band(rank_sets(beyond(gap, merits)))


@given(merits)
def test_where_nothing_is_significant_every_set_has_every_rank(merits: list[float]) -> None:
    assert set(rank_sets(beyond(100, merits))) == {(1, len(merits))}


@pytest.mark.parametrize(
    ("gap", "wide"),
    [
        (100, True),  # nothing is told apart
        (0, False),  # everything is
        (2, False),  # a rank or two to either side
    ],
)
def test_sets_are_mostly_wide_where_the_tests_order_little(gap: float, wide: bool) -> None:
    assert mostly_wide(rank_sets(beyond(gap, [float(i) for i in range(10)]))) is wide
