"""Two methods side by side: their difference, and what tests of each kind say of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from results.analysis.columns import Columns
from results.analysis.matches import NOTHING, Across, matches
from results.analysis.metrics import Metric
from results.analysis.ranking import Cell
from results.analysis.runs.flags import summed_up
from results.analysis.series import Comparable, Conditions, Series, comparables
from results.analysis.table import column_sets, source_of, table_of
from results.analysis.testing.evidence import NO_VERDICTS, Evidence, Interval, Source
from results.analysis.testing.family import MISSING
from results.analysis.testing.kept_tests import kept, seen
from results.analysis.testing.tests import (
    DEFAULT,
    Make,
    Testing,
    check,
    over_both,
    over_items,
    too_few,
)
from results.errors import ResultsError
from results.record import Run
from results.statistics.components import Components, components
from results.statistics.equivalence import Equivalence
from results.statistics.items.verdicts import differences
from results.statistics.sample import Sample
from results.statistics.test import Test, Undefined

ONE_SEED = "one seed, and a test over seeds needs three"

PROTOCOLS = (
    "The difference is one of protocols, too: of prompts, training text, decoding and extraction."
)

OTHER_TOKENS = Undefined(
    "the backbones may split texts into other tokens, so perplexities do not compare",
    withheld=True,
)


@dataclass(frozen=True)
class Exchanged:
    """How many items the first answers right in more, and in fewer, of its runs than the second.

    That is in a larger share of them, where they have not the same number of runs.
    """

    gained: int
    lost: int
    items: int


@dataclass(frozen=True)
class Contrast:
    """One benchmark or average; every difference is of the first minus the second.

    The difference is of the means as they are; tests are of logarithms where the metric says so.
    """

    column: str
    first: Sample
    second: Sample
    intervals: tuple[Interval | None, Interval | None]
    """Of the two means."""
    difference: float | None
    test: Test | Undefined
    """The default test, or the chosen one."""
    equivalence: Equivalence | Undefined | None
    """Whether the difference is smaller than the margin; None without one."""
    crossed: Test | Undefined
    """Over seeds and new items."""
    items: Test | Undefined
    """Of these trained models, over new items."""
    exchanged: Exchanged | None
    """None without stored verdicts, and of macro, whose items are those of micro."""
    components: tuple[Components | Undefined, Components | Undefined]
    """Of the variance of each: how much is due to seeds, how much to items."""


@dataclass(frozen=True)
class Comparison:
    """Two series in one metric, that agree in all but what they are compared in."""

    methods: tuple[str, str]
    runs: tuple[Mapping[int, tuple[str, ...]], Mapping[int, tuple[str, ...]]]
    """The ids of the runs of each, by seed."""
    conditions: Conditions
    metric: Metric
    signatures: tuple[str, ...]
    """Of the scores; with more than one, there are no tests."""
    folds: tuple[int, ...]
    backbone: str
    """Empty where the two are on different ones, which the names then say."""
    contrasts: tuple[Contrast, ...]
    worst: tuple[str | None, str | None]
    """Of each the benchmark with the worst mean."""
    notes: tuple[str, ...]
    flags: tuple[str, ...]
    """What is suspicious of the answers, one line for each kind."""
    chosen: bool
    """Whether a user chose the test; it is the default otherwise."""


def compare(
    runs: Sequence[Run],
    first: str,
    second: str,
    own_recipes: bool = False,
    testing: Testing = DEFAULT,
    across: Across = NOTHING,
) -> list[Comparison]:
    """Compare two methods wherever both have finished runs that may be compared.

    With `own_recipes`, every recipe of the first is compared with every recipe of the second. A
    method may be named with fields of its recipe, such as "lora[train.lr=0.0002]".

    Raises:
        ResultsError: A method has no finished run, is compared with itself, or the two have no
            finished runs that may be compared.
    """
    check(testing, runs)
    return [
        _comparison(one, shown, testing)
        for one in matches(runs, (first, second), own_recipes, across)
        for shown in column_sets(one)
    ]


def compare_runs(first: Run, second: Run, testing: Testing = DEFAULT) -> list[Comparison]:
    """Compare two trained models in all that both have scores of, whatever else they differ in.

    Raises:
        ResultsError: They are the same run, one did not finish, or they share no score.
    """
    if first.run_id == second.run_id:
        raise ResultsError(f"Run {first.run_id} cannot be compared with itself.")
    for run in (first, second):
        if run.status != "finished":
            raise ResultsError(f"Run {run.run_id} {run.status}, so it has no scores to compare.")
    (one,), (other,) = comparables([first]), comparables([second])
    pair = tuple(_alone(run, first.seed) for run in (first, second))
    both = replace(one, runs=(*one.runs, *other.runs), folds=(None,), backbones={"": pair})
    made = [_comparison(both, shown, testing) for shown in column_sets(both)]
    found = [kept for one in made if (kept := _shared(one)).contrasts]
    if not found:
        raise ResultsError(
            f"Runs {first.run_id} and {second.run_id} share no score: "
            f"the one is of {', '.join(first.benchmarks)}, the other of "
            f"{', '.join(second.benchmarks)}."
        )
    return found


def _shared(one: Comparison) -> Comparison:
    """Leave out the columns that only one of the two has a number in."""
    kept = tuple(contrast for contrast in one.contrasts if contrast.difference is not None)
    return replace(one, contrasts=kept)


def _alone(run: Run, seed: int) -> Series:
    """Make a series of one run; `seed` stands for that of both, as no seed is tested."""
    return Series(run.method, called(run), run, {seed: {None: run}}, (), {})


def called(run: Run) -> str:
    """Name a run by what a reader knows it by."""
    fold = "" if run.fold is None else f", fold {run.fold}"
    return f"{run.method} on {run.backbone}, seed {run.seed}{fold}"


def _comparison(one: Comparable, shown: Columns, testing: Testing) -> Comparison:
    source, table = source_of(one, shown, testing), table_of(one, shown, testing)
    ((backbone, series),) = one.backbones.items()
    first, second = table.blocks[0].rows
    contrasts = [
        _contrast(source, series, cells, testing)
        for cells in zip(first.cells, second.cells, strict=True)
    ]
    if shown.metric.logarithm and _backbones(series):
        contrasts = [_withheld(contrast, OTHER_TOKENS) for contrast in contrasts]
    return Comparison(
        methods=(first.label, second.label),
        runs=(series[0].ids, series[1].ids),
        conditions=table.conditions,
        metric=table.metric,
        signatures=table.signatures,
        folds=table.folds,
        backbone=backbone,
        contrasts=tuple(contrasts),
        worst=(first.worst, second.worst),
        notes=(
            *(f"{row.label}: {note}." for row in (first, second) for note in row.notes),
            *([PROTOCOLS] if len({one.newest.protocol for one in series}) > 1 else []),
        ),
        flags=summed_up([table]),
        chosen=testing.chosen,
    )


def _contrast(
    source: Source, series: Sequence[Series], cells: Sequence[Cell], testing: Testing
) -> Contrast:
    first, second = cells
    a, b = first.sample.mean, second.sample.mean
    evidence = [source.evidence(one, first.column) for one in series]
    items = _over_items(source.columns.metric, cells, evidence, testing)
    return Contrast(
        column=first.column,
        first=first.sample,
        second=second.sample,
        intervals=(first.interval, second.interval),
        difference=None if a is None or b is None else a - b,
        test=_over_seeds(cells, items, evidence, testing),
        equivalence=first.equivalence,
        crossed=_of_items(over_both, cells, evidence, testing),
        items=items,
        exchanged=_exchanged(*evidence) if first.column != "macro" else None,
        components=(_components(evidence[0]), _components(evidence[1])),
    )


def _over_seeds(
    cells: Sequence[Cell],
    items: Test | Undefined,
    evidence: Sequence[Evidence],
    testing: Testing,
) -> Test | Undefined:
    """Leave the default test of one seed, or why it is not made, to the tests over items."""
    if not all(cell.complete for cell in cells):
        return MISSING
    test = cells[0].test
    one_seed = min(len(cell.sample.by_seed) for cell in cells) == 1
    of_items = isinstance(test, Test) or test == items
    return too_few(ONE_SEED, evidence[0]) if one_seed and of_items and not testing.test else test


def _of_items(
    make: Make, cells: Sequence[Cell], evidence: Sequence[Evidence], testing: Testing
) -> Test | Undefined:
    if not all(cell.complete for cell in cells):
        return MISSING
    return make(evidence[0], evidence[1], testing.alternative)


def _over_items(
    metric: Metric, cells: Sequence[Cell], evidence: Sequence[Evidence], testing: Testing
) -> Test | Undefined:
    complete = [cell.complete for cell in cells]
    key = ["over items", testing.alternative, metric.name, complete, *map(seen, evidence)]
    make = partial(_of_items, over_items, cells, evidence, testing)
    (test,) = kept(testing.keep, key, lambda: [make()])
    return test


def _exchanged(first: Evidence, second: Evidence) -> Exchanged | None:
    a, b = first.judged(), second.judged()
    if isinstance(a, Undefined) or isinstance(b, Undefined) or a.rows != b.rows or first.score:
        return None
    (pooled,) = differences(a.answers, b.answers, "micro")
    (moved,) = pooled.values
    return Exchanged(int((moved > 0).sum()), int((moved < 0).sum()), moved.size)


def _components(one: Evidence) -> Components | Undefined:
    judged = one.judged()
    if isinstance(judged, Undefined):
        return judged
    return NO_VERDICTS if one.score else components(judged.answers, one.average)


def _backbones(series: Sequence[Series]) -> bool:
    return len({one.newest.backbone_identity for one in series}) > 1


def _withheld(contrast: Contrast, why: Undefined) -> Contrast:
    return replace(contrast, difference=None, test=why, crossed=why, items=why)
