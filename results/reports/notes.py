"""The notes below a sheet: five lines at most, the most important first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from results.analysis.series import unique
from results.analysis.table import Table
from results.reports import prose

About = Literal["data", "tests", "conditions", "methods", "command", "flags"]

LINES: tuple[About, ...] = ("data", "tests", "conditions", "methods", "command")
"""What each of the five lines is about."""

MOST = 600
"""Characters of a line; what does not fit is counted."""


@dataclass(frozen=True)
class Note:
    """One sentence, without the marks of any format."""

    about: About
    text: str


def notes(tables: Sequence[Table], command: str) -> tuple[Note, ...]:
    """Write what a reader of some tables of the same runs must know.

    Args:
        tables: As they are shown, with titles in place of names.
        command: Makes the sheet again; empty if that is not known.
    """
    return tuple(Note(about, text) for about, text in _sentences(tables, command) if text)


def lines(found: Sequence[Note]) -> list[str]:
    """Put notes into five lines at most, one for each thing that they are about.

    >>> lines([Note("methods", "x" * 3), Note("methods", "y" * 600), Note("data", "SAMPLE")])[1:]
    ['xxx 1 more: --format json.']
    """
    by_line = ([note.text for note in found if note.about == about] for about in LINES)
    return [_line(texts) for texts in by_line if texts]


def _sentences(tables: Sequence[Table], command: str) -> Iterator[tuple[About, str]]:
    first = tables[0]
    yield "data", prose.marks(first.conditions)
    for text in unique(map(prose.tests, tables)):
        yield "tests", text
    yield "conditions", prose.protocol(first.conditions)
    yield "conditions", prose.stack(first.conditions)
    for text in unique(map(prose.of_rows, tables)):
        yield "methods", text
    for text in unique(map(prose.of_scores, tables)):
        yield "methods", text
    yield "command", f"Command: {command}" if command else ""
    yield "conditions", prose.harness(first.harness)


def _line(texts: Sequence[str]) -> str:
    """Join texts as far as they fit, the first in any case, and count the others."""
    kept = [
        text for n, text in enumerate(texts, 1) if not n - 1 or len(" ".join(texts[:n])) <= MOST
    ]
    left = len(texts) - len(kept)
    return " ".join([*kept, *[f"{left} more: --format json."] * bool(left)])
