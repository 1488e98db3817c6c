"""The notes below a table: five lines at most, the rest in comments of the source."""

from collections.abc import Sequence

from results.reports.formats.latex.text import escaped, width
from results.reports.notes import Note
from results.reports.sheet import Sheet

SIZE = 7
MOST_LINES = 5
RAGGED = 1.08
"""By how much lines that are flush left fall short of the width."""


def notes(sheet: Sheet, flags: Sequence[str], room: float) -> tuple[str, list[str]]:
    """Give the paragraph of notes that fits, and the sentences that do not."""
    told = sheet.told("underlined")
    told += [Note("flags", f"Flags: {'; '.join(flags)}.")] if flags else []
    written = [(note.about, escaped(note.text)) for note in told]
    kept: list[str] = []
    left: list[tuple[str, str]] = []
    for number, (about, sentence) in enumerate(written, 1):
        # What follows may be left as well.
        fits = _lines([*kept, sentence, _more([*left, *written[number:]])], room) <= MOST_LINES
        if fits:
            kept.append(sentence)
        else:
            left.append((about, sentence))
    return " ".join(filter(None, [*kept, _more(left)])), [sentence for _, sentence in left]


def _more(left: Sequence[tuple[str, str]]) -> str:
    """Say how many sentences are left out, and what they are about; or nothing."""
    about = ", ".join(dict.fromkeys(about for about, _ in left))
    return f"{len(left)} more in the source of this table: {about}." if left else ""


def _lines(sentences: Sequence[str], room: float) -> float:
    return RAGGED * width(" ".join(sentences), SIZE) / room
