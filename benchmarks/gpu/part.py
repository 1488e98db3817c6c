"""A part of `make gpu`: items that are measured one after the other, within ten minutes."""

import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.gpu.kept import EXPECTED, Kept

LIMIT = 600
"""Seconds of a part."""

Row = dict[str, Any]
"""A line of a table, by column; `outcome` says whether it came as expected."""


@dataclass(frozen=True)
class Part:
    """What is measured, and how it is shown.

    Attributes:
        title: The heading of its table.
        about: What a reader of the table must know.
        columns: The columns before the outcome, each with the format of its numbers.
        items: Names what is measured, in order.
        measure: Measures an item within so many seconds; raises `subprocess.TimeoutExpired`.
    """

    title: str
    about: str
    columns: Mapping[str, str]
    items: Callable[[], Sequence[str]]
    measure: Callable[[str, float], list[Row]]


def go_on(
    part: Part, kept: Kept, limit: float = LIMIT, now: Callable[[], float] = time.monotonic
) -> None:
    """Measure what is left of a part until its time is over; each item is kept at once.

    An item that is cut off is measured by the next call. If it had all the time, it is kept as not
    done, and the next call measures others first.
    """
    end = now() + limit
    kept.expect(part.items())
    for place, item in enumerate(kept.left()):
        left = end - now()
        if left <= 0:
            return
        try:
            kept.add(item, part.measure(item, left))
        except subprocess.TimeoutExpired:
            if place == 0:
                kept.add(item, [{"item": item, "outcome": f"not done in {limit:.0f} s"}])
            return


def judged(as_meant: bool, otherwise: str) -> str:
    """Say that something came as expected, or what came instead."""
    return EXPECTED if as_meant else otherwise
