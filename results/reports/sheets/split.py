"""Columns in as few parts as fit."""

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise


def split(widths: Sequence[float], room: float, groups: Sequence[str] = ()) -> list[slice]:
    """Divide columns into as few parts of about equal length as fit, each at least one column.

    Columns that are neighbours and have the same name in `groups` stay together if they can.

    >>> split([10, 10, 10], room=25)
    [slice(0, 2, None), slice(2, 3, None)]
    >>> split([5, 5, 5, 5], room=15, groups=["a", "a", "b", "b"])
    [slice(0, 2, None), slice(2, 4, None)]
    """
    units = list(_units(widths, room, groups or [""] * len(widths)))
    for count in range(1, len(units)):
        parts = [_joined(units[part]) for part in _parts(len(units), count)]
        if all(sum(widths[part]) <= room for part in parts):
            return parts
    return units


def _units(widths: Sequence[float], room: float, groups: Sequence[str]) -> Iterator[slice]:
    """Give the columns that stay together; the name "" and a group that is too wide join none."""
    start = 0
    for name, columns in groupby(groups):
        whole = slice(start, start + len(list(columns)))
        start = whole.stop
        if name and sum(widths[whole]) <= room:
            yield whole
        else:
            yield from (slice(one, one + 1) for one in range(whole.start, whole.stop))


def _joined(units: Sequence[slice]) -> slice:
    return slice(units[0].start, units[-1].stop)


def _parts(columns: int, count: int) -> list[slice]:
    bounds = [-(-part * columns // count) for part in range(count + 1)]
    return [slice(*ends) for ends in pairwise(bounds)]
