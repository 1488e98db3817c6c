"""A table as a reader sees it, whatever the format: titles, and cells as texts with their marks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from results.analysis.table import Table
from results.reports.sheets.behind import Behind
from results.reports.sheets.notes import Note

Mark = Literal["", "best", "second"]


@dataclass(frozen=True)
class Printed:
    """One cell."""

    text: str
    """A number in the unit and with the digits of its metric; a word or a dash without one."""
    spread: str = ""
    """The SD in the same unit; empty without one."""
    mark: Mark = ""
    star: bool = False
    """Whether it is significantly the best."""
    dagger: bool = False
    """Whether it lacks a seed, where its row does not say so."""


@dataclass(frozen=True)
class Column:
    """What is above the cells of a column."""

    title: str
    group: str = ""
    """What is above it and its neighbours of the same group; empty for a column of its own."""


@dataclass(frozen=True)
class Line:
    """One row: its name, and a cell for each column."""

    name: str
    cells: tuple[Printed, ...]


@dataclass(frozen=True)
class LineGroup:
    """Rows under one title, such as the methods on one backbone."""

    title: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Sheet:
    """What a layout makes of one table or several."""

    name: str
    """By which it can be referred to: "math-accuracy"."""
    tables: tuple[Table, ...]
    """The values that it shows."""
    title: str
    columns: tuple[Column, ...]
    groups: tuple[LineGroup, ...]
    notes: tuple[Note, ...]
    runs: tuple[Behind, ...]

    @property
    def lines(self) -> tuple[Line, ...]:
        """The rows of all groups."""
        return tuple(line for group in self.groups for line in group.lines)

    def told(self, second: str) -> list[Note]:
        """List the notes with a legend; `second` is how a format shows the second best."""
        found = sorted(self.notes, key=lambda note: (note.short is None, note.about != "data"))
        needed = [note for note in found if note.short is not None]
        return [*needed, *self._legend(second), *found[len(needed) :]]

    def _legend(self, second: str) -> list[Note]:
        """Explain the marks that occur."""
        marks = {cell.mark for line in self.lines for cell in line.cells}
        lowest = all(table.metric.lower_is_better for table in self.tables)
        found = [f"Bold: best{' (lowest)' * lowest}"] * ("best" in marks)
        found += [f"{second}: second"] * ("second" in marks)
        several = ", on each backbone" * (len(self.groups) > 1)
        return [Note("tests", f"{'; '.join(found)}{several}.")] if found else []


def labels(names: Iterable[str]) -> list[str]:
    """Make each name another, by a number behind those that were there before.

    >>> labels(["math", "dialogue", "math"])
    ['math', 'dialogue', 'math-2']
    """
    given = list(names)
    before = (given[:place].count(name) for place, name in enumerate(given))
    return [f"{name}-{1 + n}" if n else name for name, n in zip(given, before, strict=True)]


def behind_sheets(sheets: Sequence[Sheet]) -> list[Table]:
    """List the tables that sheets show, each once."""
    tables = {id(table): table for sheet in sheets for table in sheet.tables}
    return list(tables.values())
