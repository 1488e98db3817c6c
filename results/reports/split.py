"""Columns in as few parts as fit."""

from collections.abc import Sequence
from itertools import pairwise


def split(widths: Sequence[float], room: float) -> list[slice]:
    """Divide columns into as few parts of about equal length as fit, each at least one column.

    >>> split([10, 10, 10], room=25)
    [slice(0, 2, None), slice(2, 3, None)]
    """
    for count in range(1, len(widths)):
        parts = _parts(len(widths), count)
        if all(sum(widths[part]) <= room for part in parts):
            return parts
    return _parts(len(widths), len(widths))


def _parts(columns: int, count: int) -> list[slice]:
    bounds = [-(-part * columns // count) for part in range(count + 1)]
    return [slice(*ends) for ends in pairwise(bounds)]
