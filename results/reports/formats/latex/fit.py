"""How a table fits: the type size, the space between columns, and the parts it is split into.

The widths are those of the narrowest places that tables commonly get, so that a table fits the
templates of conferences too, and of Computer Modern, which is wider than Times.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil

from results.reports.formats.latex.text import width
from results.reports.sheets.printing import Width
from results.reports.sheets.split import split

ROOM: dict[Width, float] = {"column": 219.0, "page": 345.0}
"""In pt: a column of two in the ACL style; the text of a one-column article at 10 pt."""

HEIGHT = 440.0
"""In pt: what of a page of 550 pt is left beside a caption and notes."""

SIZES = ((10, 6), (9, 5), (9, 4), (8, 4), (8, 3), (7, 3), (7, 2))
"""Type size and half the space between columns in pt, the most legible first."""

LEADING = 1.2
MOST_NAME = (0.35, 0.25)
"""A longer name of a method is broken, in shares of the room; the second where it saves a part."""

Lines = Sequence[Sequence[str]]
Heads = tuple[Lines, Sequence[str]]


@dataclass(frozen=True)
class Fit:
    """How the cells are set; the numbers are in pt."""

    size: int
    gap: int
    name: float
    """How wide the column of the methods is."""
    parts: tuple[slice, ...]
    """The columns of numbers that each part shows, from 0."""


def fit(names: Sequence[str], columns: Lines, over: Sequence[str], room: float) -> Fit:
    """Choose the fewest parts, and for them the largest type.

    Args:
        names: The cells of the first column.
        columns: The cells of each other column; a heading of several lines has several.
        over: What is above each of these, the same for neighbours; empty for nothing.
        room: How wide the table may be, in pt.
    """
    settings = ((*setting, share * room) for share in MOST_NAME for setting in SIZES)
    fits = [_at(*setting, names, (columns, over), room) for setting in settings]
    return min(fits, key=lambda one: len(one.parts))


def height(lines: int, blocks: int, size: int) -> float:
    """Estimate the height of a tabular in pt; each block has a rule and the space around it."""
    return lines * LEADING * size + 8.0 * (blocks + 2)


def name_lines(name: str, one: Fit) -> int:
    """Count the lines that the name of a method takes."""
    natural = width(name, one.size)
    # Words do not fill the lines of a narrow box.
    return 1 if natural <= one.name else ceil(1.2 * natural / one.name)


def _at(
    size: int, gap: int, longest: float, names: Sequence[str], heads: Heads, room: float
) -> Fit:
    word = max(width(text, size) for name in names for text in name.split())
    name = min(max(width(text, size) for text in names), max(longest, word))
    columns, over = heads
    widths = [max(width(text, size) for text in column) + 2 * gap for column in columns]
    widths = list(_widened(widths, over, size, gap))
    return Fit(size, gap, name, tuple(split(widths, room - name - 2 * gap, over)))


def _widened(widths: Sequence[float], over: Sequence[str], size: int, gap: int) -> Iterator[float]:
    """Widen columns so that what is above them fits."""
    start = 0
    for title, members in groupby(over):
        own = widths[start : start + len(list(members))]
        start += len(own)
        lacking = width(title, size) + 2 * gap - sum(own)
        yield from (one + max(0.0, lacking) / len(own) for one in own)
