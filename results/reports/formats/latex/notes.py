"""The notes below a table: five lines at most, the rest in comments of the source."""

from collections.abc import Sequence

from results.analysis.table import Table
from results.reports import prose
from results.reports.formats.latex.text import escaped, width

SIZE = 7
MOST_LINES = 5
RAGGED = 1.08
"""By how much lines that are flush left fall short of the width."""


def notes(table: Table, flags: Sequence[str], room: float) -> tuple[str, list[str]]:
    """Give the paragraph of notes that fits, and the sentences that do not.

    The most important come first: what the data are, what made them, what the marks mean.
    """
    sentences = [
        prose.marks(table.conditions),
        prose.harness(table.harness),
        *prose.legend(table, "underlined", brief=True),
        *prose.of_rows(table),
        f"Flags: {'; '.join(flags)}." if flags else "",
        *prose.of_scores(table),
        prose.environment(table.conditions),
    ]
    kept: list[str] = []
    left: list[str] = []
    for sentence in map(escaped, filter(None, sentences)):
        fits = _lines([*kept, sentence, _more(len(sentences))], room) <= MOST_LINES
        (kept if fits else left).append(sentence)
    closing = [_more(len(left))] if left else []
    return " ".join([*kept, *closing]), left


def _more(count: int) -> str:
    return f"{count} more in the source of this table."


def _lines(sentences: Sequence[str], room: float) -> float:
    return RAGGED * width(" ".join(sentences), SIZE) / room
