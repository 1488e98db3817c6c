"""Two methods side by side: the differences of their means, with interval and test."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from results.analysis.flags import summed_up
from results.analysis.metrics import Metric
from results.analysis.ranking import Cell
from results.analysis.recipes import recipe
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

    With `own_recipes`, every recipe of the first is compared with every recipe of the second.

    Raises:
        ResultsError: A method has no finished run, is compared with itself, or the two have no
            finished runs that may be compared.
    """
    _require_known(runs, first, second)
    pairs = _pairs(runs, first, second) if own_recipes else [_of_methods(runs, first, second)]
    found = [
        one
        for pair in pairs
        # In a table of these two alone, the best other method of each is the other.
        for table in tables(pair, own_recipes=own_recipes)
        for one in _comparisons(table, first, second)
    ]
    if not found:
        raise ResultsError(
            f"{first!r} and {second!r} have no finished runs on the same backbone with the same "
            "settings and environment.\n  `harness history` lists all runs."
        )
    return found


def _require_known(runs: Sequence[Run], first: str, second: str) -> None:
    known = {run.method for run in runs if run.status == "finished"}
    faults = [
        unknown("method with finished runs", name, known)
        for name in (first, second)
        if name not in known
    ]
    if faults:
        raise ResultsError("\n".join(faults))
    if first == second:
        raise ResultsError(f"{first!r} cannot be compared with itself. Please name two methods.")


def _of_methods(runs: Sequence[Run], *methods: str) -> list[Run]:
    return [run for run in runs if run.method in methods and run.ended]


def _pairs(runs: Sequence[Run], first: str, second: str) -> Iterator[list[Run]]:
    """List the runs of each recipe of the first with those of each recipe of the second."""
    by_recipe = [_by_recipe(_of_methods(runs, method)) for method in (first, second)]
    for of_first, of_second in product(*by_recipe):
        yield [*of_first, *of_second]


def _by_recipe(runs: Sequence[Run]) -> list[list[Run]]:
    recipes = dict.fromkeys(map(recipe, runs))
    return [[run for run in runs if recipe(run) == one] for one in recipes]


def _comparisons(table: Table, first: str, second: str) -> Iterator[Comparison]:
    for block in table.blocks:
        rows = {row.method: row for row in block.rows}
        if len(rows) > 1:
            yield _comparison(table, block, rows[first], rows[second])


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
