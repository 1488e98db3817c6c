"""Two methods side by side: the differences of their means, with interval and test."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from results.analysis.metrics import Metric
from results.analysis.ranking import Cell
from results.analysis.runs.flags import summed_up
from results.analysis.runs.recipes import recipe
from results.analysis.runs.selection import OWN, is_of
from results.analysis.series import Conditions
from results.analysis.table import Block, Table, TableRow, tables
from results.errors import ResultsError, unknown
from results.record import Run
from results.statistics.sample import Sample
from results.statistics.test import Test, Undefined


@dataclass(frozen=True)
class Contrast:
    """One benchmark or average; the difference is of the first method minus the second.

    The difference is of the means as they are; the test is of logarithms where the metric says so.
    """

    column: str
    first: Sample
    second: Sample
    difference: float | None
    test: Test | Undefined


@dataclass(frozen=True)
class Comparison:
    """Two methods on one backbone, under one setting, in one environment, in one metric."""

    methods: tuple[str, str]
    conditions: Conditions
    metric: Metric
    signatures: tuple[str, ...]
    """Of the scores; with more than one, there are no tests."""
    folds: tuple[int, ...]
    backbone: str
    contrasts: tuple[Contrast, ...]
    notes: tuple[str, ...]
    flags: tuple[str, ...]
    """What is suspicious of the answers, one line for each kind."""


def compare(
    runs: Sequence[Run], first: str, second: str, own_recipes: bool = False
) -> list[Comparison]:
    """Compare two methods wherever both have finished runs that may be compared.

    With `own_recipes`, every recipe of the first is compared with every recipe of the second. A
    method may be named with fields of its recipe, such as "lora[train.lr=0.0002]".

    Raises:
        ResultsError: A method has no finished run, is compared with itself, or the two have no
            finished runs that may be compared.
    """
    _require_known(runs, first, second)
    of_first, of_second = ([run for run in runs if is_of(run, name)] for name in (first, second))
    if {run.run_id for run in of_first} & {run.run_id for run in of_second}:
        raise ResultsError(f"{first!r} cannot be compared with itself. Please name two methods.")
    own = own_recipes or OWN in first + second
    pairs = product(_by_recipe(of_first), _by_recipe(of_second)) if own else [(of_first, of_second)]
    found = [
        one
        for pair in pairs
        # In a table of these two alone, the best other method of each is the other.
        for table in tables([*pair[0], *pair[1]], own_recipes=own)
        for one in _comparisons(table, *pair)
    ]
    if not found:
        raise ResultsError(
            f"{first!r} and {second!r} have no finished runs on the same backbone with the same "
            "settings and environment.\n  `harness history` lists all runs."
        )
    return found


def _require_known(runs: Sequence[Run], *methods: str) -> None:
    finished = [run for run in runs if run.status == "finished"]
    faults = [
        unknown("method with finished runs", name, {run.method for run in finished})
        for name in methods
        if not any(is_of(run, name) for run in finished)
    ]
    if faults:
        raise ResultsError("\n".join(faults))


def _by_recipe(runs: Sequence[Run]) -> list[list[Run]]:
    recipes = dict.fromkeys(map(recipe, runs))
    return [[run for run in runs if recipe(run) == one] for one in recipes]


def _comparisons(
    table: Table, of_first: Iterable[Run], of_second: Iterable[Run]
) -> Iterator[Comparison]:
    """Compare the two on each backbone on which both have finished runs."""
    ids = [{run.run_id for run in runs} for runs in (of_first, of_second)]
    for block in table.blocks:
        rows = [next((row for row in block.rows if own & _ids(row)), None) for own in ids]
        if rows[0] and rows[1]:
            yield _comparison(table, block, rows[0], rows[1])


def _ids(row: TableRow) -> set[str]:
    return {run for cell in row.cells for run in cell.runs}


def _comparison(table: Table, block: Block, first: TableRow, second: TableRow) -> Comparison:
    pairs = zip(first.cells, second.cells, strict=True)
    notes = (f"{row.label}: {note}." for row in (first, second) for note in row.notes)
    return Comparison(
        methods=(first.label, second.label),
        conditions=table.conditions,
        metric=table.metric,
        signatures=table.signatures,
        folds=table.folds,
        backbone=block.backbone,
        contrasts=tuple(_contrast(a, b) for a, b in pairs),
        notes=tuple(notes),
        flags=summed_up([replace(table, blocks=(Block(block.backbone, (first, second)),))]),
    )


def _contrast(first: Cell, second: Cell) -> Contrast:
    a, b = first.sample.mean, second.sample.mean
    difference = None if a is None or b is None else a - b
    return Contrast(first.column, first.sample, second.sample, difference, first.test)
