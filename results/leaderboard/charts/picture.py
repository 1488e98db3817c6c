"""What is drawn, whatever it means: a frozen value that decides every stroke of a chart."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import log10
from typing import Literal
from unicodedata import east_asian_width

Ink = Literal["ink", "quiet", "line", "accent", "paper"]
"""Colours by their names in the stylesheet."""

LONGEST = 30
"""Characters of a label; the table beside a chart has the whole."""

DECADES = 1.0
"""From so many on, an axis is logarithmic."""

MARGIN = 0.06
"""Of an axis, beyond its first and last number."""


@dataclass(frozen=True)
class Axis:
    """One direction of a chart."""

    title: str
    low: float
    high: float
    logarithmic: bool
    ticks: tuple[tuple[float, str], ...] = ()
    """Where they are given by name, such as backbones; empty for round numbers."""


@dataclass(frozen=True)
class Point:
    """A dot, and the interval of what it stands for."""

    x: float
    y: float
    low: float | None
    high: float | None
    ink: Ink
    filled: bool
    label: str
    """Empty for none."""
    hint: str
    """What a pointer over it is told."""


@dataclass(frozen=True)
class Line:
    """A line from point to point, its label at its end."""

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    ink: Ink
    width: float
    dashed: bool = False
    steps: bool = False
    """Whether it goes right before it goes up or down."""
    label: str = ""


@dataclass(frozen=True)
class Band:
    """What lies between two lines."""

    xs: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    ink: Ink


@dataclass(frozen=True)
class Picture:
    """A chart; its size is in pixels."""

    width: int
    height: int
    right: int
    """Pixels at the right for the labels of lines."""
    x: Axis
    y: Axis
    points: tuple[Point, ...] = ()
    lines: tuple[Line, ...] = ()
    bands: tuple[Band, ...] = ()


def axis(title: str, values: Iterable[float], *, ratio: bool = False) -> Axis:
    """Fit an axis to numbers: of positive ones over a decade or more, a logarithmic one.

    Args:
        title: What the numbers are.
        values: At least one.
        ratio: Whether it may be logarithmic.
    """
    found = list(values)
    low, high = min(found), max(found)
    if ratio and low > 0 and log10(high / low) >= DECADES:
        factor = (high / low) ** MARGIN
        return Axis(title, low / factor, high * factor, True)
    room = MARGIN * (high - low) or 0.1 * abs(high) or 1.0
    return Axis(title, low - room if low < 0 else max(low - room, 0.0), high + room, False)


def shown(text: str, longest: int = LONGEST) -> str:
    r"""Shorten a label in its middle; what cannot be printed, or is no XML, becomes a mark.

    >>> shown("lora[r=8]"), shown("a\x00b\u202e"), shown("m" * 99, 9)
    ('lora[r=8]', 'a\ufffdb\ufffd', 'mmmm\u2026mmmm')
    """
    half = (longest - 1) // 2
    short = text if len(text) <= longest else f"{text[:half]}\N{HORIZONTAL ELLIPSIS}{text[-half:]}"
    return "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in short)


def width_of(text: str, size: float) -> float:
    """Estimate how wide a text is in pixels, in type of a size: wide characters take a square."""
    return size * sum(1.0 if east_asian_width(one) in "WF" else 0.64 for one in text)
