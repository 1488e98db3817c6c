"""Which of several choices are beaten in both of two dimensions."""

from collections.abc import Sequence


def beaten_by(points: Sequence[tuple[float, float]]) -> list[tuple[int, ...]]:
    """Say of each point which points of the Pareto front beat it; those on the front have none.

    One point beats another if it costs no more and is no worse, and one of the two is strictly
    so. Points that are equal in both do not beat one another: both are on the front, or neither.

    Args:
        points: Cost and merit of each; the smaller the cost and the larger the merit, the better.

    Returns:
        For each point the places of those that beat it, from the cheapest to the dearest.

    >>> beaten_by([(1, 5), (2, 9), (3, 8), (2, 9), (4, 1)])
    [(), (), (1, 3), (), (0, 1, 3)]
    """
    every = range(len(points))
    front = [
        place for place in every if not any(_beats(points[one], points[place]) for one in every)
    ]
    front.sort(key=points.__getitem__)
    return [tuple(one for one in front if _beats(points[one], points[place])) for place in every]


def _beats(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return one != other and one[0] <= other[0] and one[1] >= other[1]
