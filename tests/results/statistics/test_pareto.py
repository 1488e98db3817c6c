"""The Pareto front against its definition, taken word for word."""

from hypothesis import given
from hypothesis import strategies as st

from results.statistics.pareto import beaten_by

few = st.integers(0, 4).map(float)
points = st.lists(st.tuples(few, few), max_size=12)
"""Few numbers, so that ties in one dimension and in both are common."""


@given(points)
def test_the_front_is_what_no_other_point_beats_in_both(found: list[tuple[float, float]]) -> None:
    for (cost, merit), winners in zip(found, beaten_by(found), strict=True):
        better = any((c < cost and m >= merit) or (c <= cost and m > merit) for c, m in found)
        assert bool(winners) == better


@given(points)
def test_what_is_beaten_is_beaten_by_points_of_the_front(found: list[tuple[float, float]]) -> None:
    beaten = beaten_by(found)
    for (cost, merit), winners in zip(found, beaten, strict=True):
        assert all(not beaten[one] for one in winners)
        assert all(found[one][0] <= cost and found[one][1] >= merit for one in winners)


def test_equal_points_share_the_front_and_an_equal_score_at_a_higher_cost_does_not() -> None:
    assert beaten_by([(1, 5), (1, 5), (2, 5)]) == [(), (), (0, 1)]
