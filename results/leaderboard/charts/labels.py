"""Where labels go, so that none lies on another, on a dot, or outside of the chart."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import cos, hypot, pi, sin

DISTANCES = (9.0, 16.0, 26.0, 38.0, 52.0, 70.0, 92.0, 120.0)
"""Pixels from a dot to its label, the nearest first."""
ANGLES = tuple(pi * turn / 8 for turn in (0, 8, 1, 7, -1, -7, 2, 6, -2, -6, 4, -4, 3, 5, -3, -5))
"""Right and left first: a label beside its dot needs no line that leads to it."""
NOTHING = 1.0
"""Square pixels that nobody sees."""
LED = 14.0
"""Pixels from which on a line leads from the dot to its label."""


@dataclass(frozen=True)
class Box:
    """A rectangle in pixels, from its left lower corner."""

    x: float
    y: float
    width: float
    height: float

    def shared(self, other: "Box") -> float:
        """Give the area of two rectangles that is the same."""
        wide = min(self.x + self.width, other.x + other.width) - max(self.x, other.x)
        high = min(self.y + self.height, other.y + other.height) - max(self.y, other.y)
        return max(wide, 0.0) * max(high, 0.0)

    def outside(self, frame: "Box") -> float:
        """Give the area of it that lies outside of a frame."""
        return self.width * self.height - self.shared(frame)


@dataclass(frozen=True)
class Place:
    """A label, and the end of the line that leads to it, if there is one."""

    box: Box
    led: tuple[float, float] | None


def placed(
    dots: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    taken: Sequence[Box],
    frame: Box,
) -> list[Place]:
    """Place labels one after the other, each where it covers the least of what is there.

    Args:
        dots: What the labels are of, in pixels; the first ones choose first.
        sizes: Width and height of the labels.
        taken: What no label should lie on, such as dots and intervals.
        frame: What they should lie in.
    """
    found: list[Place] = []
    for dot, size in zip(dots, sizes, strict=True):
        covered = [*taken, *(one.box for one in found)]
        costs = ((_cost(one.box, covered, frame), one) for one in _candidates(dot, size))
        found.append(_least(costs))
    return found


def _cost(box: Box, covered: Sequence[Box], frame: Box) -> float:
    return sum(box.shared(other) for other in covered) + 10 * box.outside(frame)


def _least(costs: Iterable[tuple[float, Place]]) -> Place:
    """Give the first place that costs next to nothing, or else the one that costs the least."""
    found: list[tuple[float, Place]] = []
    for cost, place in costs:
        if cost < NOTHING:
            return place
        found.append((cost, place))
    return min(found, key=lambda one: one[0])[1]


def _candidates(dot: tuple[float, float], size: tuple[float, float]) -> Iterator[Place]:
    """Yield places around a dot, the nearest first."""
    for distance, angle in product(DISTANCES, ANGLES):
        x, y = dot[0] + distance * cos(angle), dot[1] + distance * sin(angle)
        # The box touches the circle with the side or corner that is nearest to the dot.
        left = x - size[0] * (1 - cos(angle)) / 2
        box = Box(left, y - size[1] * (1 - sin(angle)) / 2, *size)
        yield Place(box, (x, y) if distance > LED else None)


def spread(heights: Sequence[float], least: float, low: float, high: float) -> list[float]:
    """Move heights apart until each is `least` from the next, all between two ends if they fit.

    >>> spread([5, 6, 20], 4, 0, 30), spread([29, 30], 4, 0, 30)
    ([3.5, 7.5, 20.0], [26, 30])
    """
    order = sorted(range(len(heights)), key=heights.__getitem__)
    groups: list[list[float]] = []
    for place in order:
        groups.append([heights[place]])
        while len(groups) > 1 and _bottom(groups[-1], least, low, high) < (
            _bottom(groups[-2], least, low, high) + least * len(groups[-2])
        ):
            last = groups.pop()
            groups[-1] += last
    moved = [
        _bottom(group, least, low, high) + least * step
        for group in groups
        for step in range(len(group))
    ]
    return [moved[order.index(place)] for place in range(len(heights))]


def _bottom(group: Sequence[float], least: float, low: float, high: float) -> float:
    """Give the lowest of the heights of a group that stands as one, around its middle."""
    length = least * (len(group) - 1)
    return max(low, min(sum(group) / len(group) - length / 2, high - length))


def is_far(dot: tuple[float, float], label: tuple[float, float]) -> bool:
    """Say whether a line should lead from a dot to its label."""
    return hypot(dot[0] - label[0], dot[1] - label[1]) > LED
