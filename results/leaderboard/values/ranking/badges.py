"""Warnings beside a table or a row: a word, the sentences behind it, and what the word means."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from results.analysis.columns import CLEAN_COLUMNS
from results.analysis.notes import NO_SCORE
from results.analysis.runs.flags import summed_up
from results.analysis.runs.recipes import without_recipe
from results.analysis.series import unique
from results.analysis.table import Table, TableRow
from results.leaderboard.values.contamination import in_training
from results.record import Run

Kind = Literal[
    "sample",
    "limits",
    "data",
    "contamination",
    "adjusted",
    "flags",
    "diverged",
    "failed",
    "missing",
]

MEANINGS: dict[Kind, tuple[str, str]] = {
    "sample": ("SAMPLE DATA", "generated rows; the numbers say nothing of the published sets"),
    "limits": ("rows limited", "only the first rows were trained on or tested"),
    "data": ("other data", "data or numerics are not those that are published and checked"),
    "adjusted": ("adjusted", "PEFT changed the method so that it fits the backbone"),
    "contamination": (
        "seen in training",
        "test rows of the training set, which clean averages omit",
    ),
    "flags": ("flags", "answers or training look degenerate"),
    "diverged": ("diverged", "the loss was infinite or no number; the mean is of the other seeds"),
    "failed": ("failed", "a run ended with an error; the mean is of the other seeds"),
    "missing": ("not run", "seeds that other rows have; what lacks one is not tested"),
}
"""The word of each kind of badge, and what it means, for the line below a table."""

OF_MARKS: tuple[Kind, ...] = ("sample", "limits", "data", "adjusted")

ENDED: dict[str, Kind] = {"diverged": "diverged", "failed": "failed"}
"""The badges of runs that ended without a score, by the first word of the reason."""

PHRASES = {NO_SCORE: "without a score"}
"""What the seeds are, where it is not the word of their reason."""

_LIMIT = re.compile(r"first \d+ ")
_RUN = re.compile(r"\b[0-9a-f]{16}\b")


@dataclass(frozen=True)
class Badge:
    """A word of warning, and what is behind it."""

    kind: Kind
    text: str
    details: tuple[str, ...]
    """Sentences."""
    runs: tuple[str, ...] = ()
    """The runs that the sentences name."""


@dataclass(frozen=True)
class Meaning:
    """What the badges of a kind mean."""

    kind: Kind
    word: str
    text: str


def of_table(
    table: Table, runs: Mapping[str, Run], titles: Mapping[str, str]
) -> tuple[tuple[Badge, ...], frozenset[str]]:
    """Give the warnings that hold for all runs of a table, and the marks that they are made of."""
    known = [run for block in table.blocks for row in block.rows for run in runs_of(row, runs)]
    marks = [one for one in table.conditions.marks if all(one in run.marks for run in known)]
    return (*_of_marks(marks, _labels(known)), *_contamination(table, known, titles)), frozenset(
        marks
    )


def of_row(
    row: TableRow,
    alone: Table,
    runs: Mapping[str, Run],
    shared: Collection[str],
    titles: Mapping[str, str],
) -> tuple[Badge, ...]:
    """Give the warnings of a row.

    Args:
        row: The row.
        alone: A table that holds nothing else.
        runs: All runs by id.
        shared: The marks of the whole table, which are not said again.
        titles: What papers call benchmarks.
    """
    own = runs_of(row, runs)
    marks = [one for one in unique(run.marks for run in own) if one not in shared]
    flags = tuple(map(_sentence, summed_up([alone], lambda name: titles.get(name, name))))
    return (
        *_of_marks(marks, _labels(own)),
        *([Badge("flags", _number(len(flags), "flag"), flags)] * bool(flags)),
        *_missing(row, runs),
    )


def meanings(badges: Iterable[Badge]) -> tuple[Meaning, ...]:
    """Say what badges mean, each kind once, in the order of `MEANINGS`."""
    kinds = {badge.kind for badge in badges}
    return tuple(Meaning(kind, *told) for kind, told in MEANINGS.items() if kind in kinds)


def runs_of(row: TableRow, runs: Mapping[str, Run]) -> list[Run]:
    """List the finished runs of a row."""
    return [runs[run] for run in row.flags if run in runs]


def _labels(runs: Iterable[Run]) -> set[str]:
    return {without_recipe(run.method) for run in runs}


def _of_marks(marks: Iterable[str], labels: Collection[str]) -> Iterator[Badge]:
    found: dict[Kind, list[str]] = {}
    for mark in marks:
        kind = _kind(mark, labels)
        found.setdefault(kind, []).append(f"{mark}." if kind == "adjusted" else _sentence(mark))
    for kind in OF_MARKS:
        if kind in found:
            yield Badge(kind, MEANINGS[kind][0], tuple(found[kind]))


def _kind(mark: str, labels: Collection[str]) -> Kind:
    """Tell the kind of a mark; what PEFT adjusted begins with the label of the method."""
    if mark.startswith("SAMPLE DATA"):
        return "sample"
    if _LIMIT.match(mark):
        return "limits"
    return "adjusted" if any(mark.startswith(f"{one} on ") for one in labels) else "data"


def _contamination(table: Table, runs: Sequence[Run], titles: Mapping[str, str]) -> Iterator[Badge]:
    """Say which share of each benchmark is in the training set."""
    found = in_training(runs)
    if not found or not set(CLEAN_COLUMNS) & set(table.columns):
        return
    shares = [
        f"{titles.get(name, name)}: {shared:,} of {n:,} test rows ({100 * shared / n:.2g} %) are "
        "in the training set."
        for name, (shared, n) in found.items()
    ]
    total = sum(shared for shared, _ in found.values())
    averages = "The columns clean micro and clean macro are averages without these rows."
    yield Badge("contamination", f"{total:,} rows seen in training", (*shares, averages))


def _missing(row: TableRow, runs: Mapping[str, Run]) -> Iterator[Badge]:
    """Count the seeds that diverged, failed, were not run or lack a score, with their reasons."""
    found: dict[str, list[tuple[int, str]]] = {}
    for seed, why in sorted({pair for cell in row.cells for pair in cell.missing.items()}):
        found.setdefault(why.partition(":")[0], []).append((seed, why))
    for word, seeds in found.items():
        details = tuple(_sentence(f"seed {seed}: {why}") for seed, why in seeds)
        number = _number(len({seed for seed, _ in seeds}), "seed")
        named = unique(_RUN.findall(why) for _, why in seeds)
        known = tuple(run for run in named if run in runs)
        kind = ENDED.get(word, "missing")
        yield Badge(kind, f"{number} {PHRASES.get(word, word)}", details, known)


def _number(many: int, of: str) -> str:
    return f"{many} {of}{'s' if many > 1 else ''}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
