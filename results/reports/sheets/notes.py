"""The notes below a sheet: five lines at most, the most important first."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from results.analysis.series import unique
from results.analysis.table import Table
from results.reports import prose, testing

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
    short: str | None = None
    """What stands in its place where there is no room for it; None if it may be left out then."""


def notes(tables: Sequence[Table], command: str) -> tuple[Note, ...]:
    """Write what a reader of some tables of the same runs must know.

    Args:
        tables: As they are shown, with titles in place of names.
        command: Makes the sheet again; empty if that is not known.
    """
    return tuple(note for note in dict.fromkeys(_all(tables, command)) if note.text)


def fitted(
    found: Sequence[Note], fits: Callable[[Sequence[str], Sequence[Note]], bool]
) -> tuple[list[str], list[Note]]:
    """Give the texts that fit, the first notes first, and the notes that do not stand in full.

    `fits` is asked with texts, and with the notes that these leave out or shorten.
    """
    kept = {n: note.short for n, note in enumerate(found) if note.short is not None}
    for n, note in enumerate(found):
        tried = kept | {n: note.text}
        if fits([tried[one] for one in sorted(tried)], _without(found, tried)):
            kept = tried
    return [kept[one] for one in sorted(kept)], _without(found, kept)


def _without(found: Sequence[Note], kept: Mapping[int, str]) -> list[Note]:
    return [note for n, note in enumerate(found) if kept.get(n) != note.text]


def lines(found: Sequence[Note]) -> list[str]:
    """Put notes into five lines at most, one for each thing that they are about.

    >>> lines([Note("methods", "x" * 3), Note("methods", "y" * 600), Note("data", "SAMPLE")])[1:]
    ['xxx 1 more: --format json.']
    """
    by_line = ([note for note in found if note.about == about] for about in LINES)
    return [_line(of_line) for of_line in by_line if of_line]


def _all(tables: Sequence[Table], command: str) -> Iterator[Note]:
    first = tables[0]
    marks = prose.marks(first.conditions)
    yield Note("data", marks, short=marks)
    for text in unique([prose.part(table)] for table in tables):
        yield Note("tests", text, short=text)
    for table in tables:
        if table.tests:
            # A test over folds compares methods: each fold is a training run.
            over_runs = any(one.claim == "seeds and items" for one in table.tests.named)
            models = len(table.seeds) == 1 and not over_runs
            text = testing.sentence(table.metric, table.tests, models=models)
            yield Note("tests", text, short=testing.brief(table.tests, models=models))
    for table in tables:
        yield Note("tests", prose.star(table), short=prose.star(table, brief=True))
    several = len({table.metric for table in tables}) > 1
    for text in unique(prose.tests(table, several=several) for table in tables):
        yield Note("tests", text)
    yield Note("conditions", prose.protocol(first.conditions))
    yield Note("conditions", prose.stack(first.conditions))
    for text in unique(map(prose.of_rows, tables)):
        yield Note("methods", text)
    for text in unique(map(prose.of_scores, tables)):
        yield Note("methods", text)
    yield Note("command", f"Command: {command}" if command else "")
    yield Note("conditions", prose.harness(first.harness))


def _line(found: Sequence[Note]) -> str:
    """Join notes as far as they fit, the first in any case, and count the others."""
    kept, left = fitted(found, lambda texts, _: len(texts) == 1 or len(" ".join(texts)) <= MOST)
    return " ".join([*kept, *[f"{len(left)} more: --format json."] * bool(left)])
