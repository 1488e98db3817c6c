"""Two methods side by side: the difference of their means, and what chance allows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from results import caption
from results.errors import ResultsError, unknown
from results.grid import grid
from results.record import Run
from results.standing import Cell, points
from results.statistics import Sample, Undefined, Welch
from results.table import Block, Conditions, Row, Table, tables


@dataclass(frozen=True)
class Contrast:
    """One benchmark or average; the difference is of the first method minus the second."""

    column: str
    first: Sample
    second: Sample
    difference: float | None
    test: Welch | Undefined


@dataclass(frozen=True)
class Comparison:
    """Two methods on one backbone, under one setting, in one environment."""

    methods: tuple[str, str]
    conditions: Conditions
    backbone: str
    contrasts: tuple[Contrast, ...]
    notes: tuple[str, ...]


def compare(runs: Sequence[Run], first: str, second: str) -> list[Comparison]:
    """Compare two methods wherever both have finished runs that may be compared."""
    known = {run.method for run in runs if run.status == "finished"}
    faults = [
        unknown("finished run of", name, known) for name in (first, second) if name not in known
    ]
    if faults:
        raise ResultsError("\n".join(faults))
    if first == second:
        raise ResultsError(f"{first!r} cannot be compared with itself. Please name two methods.")
    # In a table of these two alone, the best other method of each is the other.
    chosen = tables(run for run in runs if run.method in (first, second))
    found = [one for table in chosen for one in _comparisons(table, first, second)]
    if not found:
        raise ResultsError(
            f"{first!r} and {second!r} have no finished runs on the same backbone with the same "
            "settings and environment.\n  `harness history` lists all runs."
        )
    return found


def markdown(comparisons: Sequence[Comparison]) -> str:
    """Write comparisons one below the other."""
    return "\n\n".join(map(_section, comparisons))


def _comparisons(table: Table, first: str, second: str) -> Iterator[Comparison]:
    for block in table.blocks:
        rows = {row.method: row for row in block.rows}
        if len(rows) > 1:
            yield _comparison(table, block, rows[first], rows[second])


def _comparison(table: Table, block: Block, first: Row, second: Row) -> Comparison:
    pairs = zip(first.cells, second.cells, strict=True)
    notes = [f"{row.method}: {note}." for row in (first, second) for note in row.notes]
    return Comparison(
        methods=(first.method, second.method),
        conditions=table.conditions,
        backbone=block.backbone,
        contrasts=tuple(_contrast(a, b) for a, b in pairs),
        notes=tuple(notes),
    )


def _contrast(first: Cell, second: Cell) -> Contrast:
    a, b = first.sample.mean, second.sample.mean
    difference = None if a is None or b is None else a - b
    return Contrast(first.column, first.sample, second.sample, difference, first.test)


def _section(one: Comparison) -> str:
    first, second = one.methods
    header = ["", f"{first}, %", f"{second}, %", "difference", "95 % interval", "p", "seeds"]
    lines = [
        f"{first} minus {second} on {one.backbone}: {caption.subject(one.conditions)}.",
        caption.marks(one.conditions),
        grid(header, map(_line, one.contrasts), align="lrrrrrr"),
        f"p: {caption.TEST}.",
        *one.notes,
        caption.environment(one.conditions),
    ]
    return "\n\n".join(filter(None, lines))


def _line(contrast: Contrast) -> list[str]:
    first, second = contrast.first, contrast.second
    means = [caption.printed(first), caption.printed(second)]
    seeds = f"{len(first.by_seed)}, {len(second.by_seed)}"
    return [contrast.column, *means, *_difference(contrast), seeds]


def _difference(contrast: Contrast) -> tuple[str, str, str]:
    difference = "-" if contrast.difference is None else f"{points(contrast.difference):+.2f}"
    if isinstance(contrast.test, Undefined):
        return difference, "-", contrast.test.reason
    low, high = (points(end) for end in contrast.test.interval)
    return difference, f"{low:+.2f} to {high:+.2f}", f"{contrast.test.p:.3g}"
