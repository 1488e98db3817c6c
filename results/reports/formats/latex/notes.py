"""The notes below a table: five lines at most, the rest in comments of the source."""

from collections.abc import Sequence
from dataclasses import replace

from results.reports.formats.latex.text import escaped, width
from results.reports.sheets.notes import Note, fitted
from results.reports.sheets.sheet import Sheet

SIZE = 7
MOST_LINES = 5
RAGGED = 1.08
"""By how much lines that are flush left fall short of the width."""


def notes(sheet: Sheet, flags: Sequence[str], room: float) -> tuple[str, list[str]]:
    """Give the paragraph of notes that fits, and the sentences that do not."""
    told = sheet.told("underlined")
    told += [Note("flags", f"Flags: {'; '.join(flags)}.")] if flags else []
    plain = {
        replace(note, text=escaped(note.text), short=_escaped(note.short)): note for note in told
    }
    kept, left = fitted(
        list(plain), lambda texts, others: _lines([*texts, _more(others)], room) <= MOST_LINES
    )
    return " ".join(filter(None, [*kept, _more(left)])), [plain[note].text for note in left]


def _escaped(short: str | None) -> str | None:
    return short and escaped(short)


def _more(left: Sequence[Note]) -> str:
    """Say how many sentences are left out, and what they are about; or nothing."""
    about = ", ".join(dict.fromkeys(note.about for note in left))
    return f"{len(left)} more in the source of this table: {about}." if left else ""


def _lines(sentences: Sequence[str], room: float) -> float:
    return RAGGED * width(" ".join(sentences), SIZE) / room
