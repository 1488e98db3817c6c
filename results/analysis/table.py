"""Comparison tables as values: the runs of one setting in one environment."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from results.analysis.columns import Columns, columns, unfinished
from results.analysis.metrics import Metric, metric
from results.analysis.notes import notes, reason
from results.analysis.ranking import Cell, cells, unranked
from results.analysis.runs.costs import Costs, costs
from results.analysis.runs.recipes import Choice
from results.analysis.runs.selection import is_of
from results.analysis.runs.sources import versioned
from results.analysis.runs.tries import UnequalTriesError, chosen
from results.analysis.runs.versions import versions
from results.analysis.series import Comparable, Conditions, Series, comparables, unique
from results.analysis.testing.evidence import Source
from results.analysis.testing.family import Candidate, Family, tested
from results.analysis.testing.tests import DEFAULT, Made, Testing, check, named
from results.record import Run
from results.statistics.sample import sample

SIGNATURES = "scores of two signatures do not compare"


@dataclass(frozen=True)
class TableRow:
    """One method on one backbone, a cell per column; the notes are sentences for the reader."""

    method: str
    label: str
    """The method, with the recipe fields in which the rows of the table differ."""
    recipe: str
    """The hash of its training recipe."""
    trainable_percent: float | None
    """None if no run finished."""
    seeds: tuple[int, ...]
    cells: tuple[Cell, ...]
    notes: tuple[str, ...]
    worst: str | None
    """The benchmark with the worst mean; None without any number."""
    costs: Costs
    """Mean over the runs."""
    choice: Choice | None
    """How its recipe was chosen, where that was asked for."""
    flags: Mapping[str, tuple[str, ...]]
    """Of each of its runs, by its id, what is suspicious of the answers."""

    @property
    def trained(self) -> bool:
        """Whether anything was trained; where no run finished, that is taken for granted."""
        return self.trainable_percent != 0


@dataclass(frozen=True)
class Block:
    """The methods on one backbone: the family within which they are ranked and tested."""

    backbone: str
    rows: tuple[TableRow, ...]
    absent: tuple[str, ...] = ()
    """The methods that other backbones of the table have and this one does not."""
    hidden: Mapping[str, Mapping[str, int | None]] = field(default_factory=dict)
    """The ranks, by label and column, of rows that are left out: ranks are among these too."""


@dataclass(frozen=True)
class Table:
    """The runs of one setting in one environment, in one metric."""

    conditions: Conditions
    metric: Metric
    signatures: tuple[str, ...]
    """Of its scores; with more than one, no cell has a rank or a test."""
    seeds: tuple[int, ...]
    folds: tuple[int, ...]
    """Those that a seed's numbers are the mean of; empty without cross-validation."""
    harness: tuple[str, ...]
    """By which versions and commits of the harness its runs were made."""
    benchmarks: tuple[str, ...]
    columns: tuple[str, ...]
    blocks: tuple[Block, ...]
    tests: Made | None = None
    """How its tests were made; None if none was."""
    refusal: str = ""
    """Why its runs were not compared, so that it has no blocks."""


def tables(
    runs: Iterable[Run],
    clean: bool = False,
    own_recipes: bool = False,
    choose: bool = False,
    stored: Sequence[Run] = (),
    testing: Testing = DEFAULT,
) -> list[Table]:
    """Make a table of each set of comparable runs and each metric they have.

    The newest set comes first, its metrics in the order of the run. With `clean`, tables of
    accuracies also average over the test rows that are not in the training set. With
    `own_recipes`, methods share a table whatever recipe each was trained by; with `choose` too,
    and of each method only the recipe of the lowest validation loss is in it. Of the runs `stored`
    besides, those of other versions of a row's method are named as left out.

    Raises:
        ResultsError: There is no such test, or no finished run of the declared method.
    """
    found = list(runs)
    check(testing, found)
    return [
        _chosen(comparable, shown, testing) if choose else table_of(comparable, shown, testing)
        for comparable in versioned(comparables(found, own_recipes or choose), stored)
        for shown in column_sets(comparable, clean)
    ]


def column_sets(comparable: Comparable, clean: bool = False) -> list[Columns]:
    """Find the columns of each metric that comparable runs have."""
    if not comparable.runs:
        return [unfinished(_failed(comparable))]
    names = unique(run.metrics for run in comparable.runs)
    return [columns(metric(name), comparable.runs, clean) for name in names]


def _chosen(comparable: Comparable, shown: Columns, testing: Testing) -> Table:
    try:
        return table_of(chosen(comparable), shown, testing)
    except UnequalTriesError as error:
        empty = table_of(replace(comparable, backbones={}), shown, testing)
        return replace(empty, refusal=str(error))


def source_of(comparable: Comparable, shown: Columns, testing: Testing) -> Source:
    """Say where the numbers of comparable methods come from."""
    return Source(shown, comparable.folds, _used(comparable), testing.verdicts, testing.texts)


def table_of(comparable: Comparable, shown: Columns, testing: Testing) -> Table:
    """Make the table of comparable runs in one metric."""
    source = source_of(comparable, shown, testing)
    blocks = tuple(
        _block(backbone, series, source, testing)
        for backbone, series in comparable.backbones.items()
    )
    signatures = _signatures(comparable, shown.metric)
    if len(signatures) > 1:
        blocks = tuple(map(_unranked, blocks))
    return Table(
        conditions=comparable.conditions,
        metric=shown.metric,
        signatures=signatures,
        seeds=_seeds(comparable),
        folds=tuple(fold for fold in comparable.folds if fold is not None),
        harness=versions(_used(comparable)),
        benchmarks=shown.benchmarks,
        columns=shown.names,
        blocks=tuple(replace(block, absent=_absent(block, blocks)) for block in blocks),
        tests=_made(blocks, testing),
    )


def _made(blocks: Sequence[Block], testing: Testing) -> Made | None:
    """Sum up the tests of all cells; None if no cell has one."""
    cells = [cell for block in blocks for row in block.rows for cell in row.cells]
    found = named((cell.column, cell.test) for cell in cells)
    if not found:
        return None
    correction, side, chosen = testing.correction, testing.alternative, testing.chosen
    return Made(found, correction, side, chosen, testing.against)


def _absent(block: Block, blocks: Iterable[Block]) -> tuple[str, ...]:
    own = {row.method for row in block.rows}
    methods = unique([row.method for row in other.rows] for other in blocks)
    return tuple(method for method in methods if method not in own)


def _seeds(comparable: Comparable) -> tuple[int, ...]:
    """List the seeds that means are over: those of training, if anything was trained."""
    series = [one for family in comparable.backbones.values() for one in family]
    finished = {seed for one in series if one.trained for seed in one.by_seed}
    finished = finished or {seed for one in series for seed in one.by_seed}
    return tuple(sorted(finished or {run.seed for run in _failed(comparable)}))


def _failed(comparable: Comparable) -> list[Run]:
    families = comparable.backbones.values()
    return [run for family in families for one in family for run in one.failed.values()]


def _used(comparable: Comparable) -> list[Run]:
    return [run for series in comparable.backbones.values() for one in series for run in one.runs]


def _signatures(comparable: Comparable, of: Metric) -> tuple[str, ...]:
    scores = [score for run in _used(comparable) for score in run.headline(of.name).values()]
    return unique([[score.signature for score in scores if score.signature]])


def _unranked(block: Block) -> Block:
    rows = (
        replace(row, cells=tuple(unranked(cell, SIGNATURES) for cell in row.cells))
        for row in block.rows
    )
    return replace(block, rows=tuple(rows))


def families(
    comparable: Comparable, shown: Columns, testing: Testing, backbone: str
) -> dict[str, Family[str]]:
    """Make the tests of each column on one backbone, by the labels of its methods."""
    source = source_of(comparable, shown, testing)
    found = comparable.backbones[backbone]
    return {
        name: tested(
            shown.metric,
            {one.label: made for one, made in _candidates(found, name, source, testing)},
            testing,
            backbone,
        )
        for name in shown.names
    }


def _block(backbone: str, family: Sequence[Series], source: Source, testing: Testing) -> Block:
    columns = [
        cells(
            source.columns.metric,
            name,
            dict(enumerate(made for _, made in _candidates(family, name, source, testing))),
            testing,
            family=backbone,
        )
        for name in source.columns.names
    ]
    rows = (
        _row(series, tuple(column[place] for column in columns), _required(series, family), source)
        for place, series in enumerate(family)
    )
    return Block(backbone, tuple(rows))


def _candidates(
    family: Sequence[Series], column: str, source: Source, testing: Testing
) -> Iterator[tuple[Series, Candidate]]:
    for one in family:
        yield one, _candidate(one, _required(one, family), column, source, testing)


def _worst(cells: Sequence[Cell], shown: Columns) -> str | None:
    means = {cell.column: cell.sample.mean for cell in cells if cell.column in shown.benchmarks}
    merits = {name: shown.metric.merit(mean) for name, mean in means.items() if mean is not None}
    return min(merits, key=merits.__getitem__, default=None)


def _candidate(
    series: Series, seeds: frozenset[int], column: str, source: Source, testing: Testing
) -> Candidate:
    return Candidate(
        sample=sample(source.by_seed(series, column)),
        seeds=frozenset() if column in source.columns.unfilled else seeds,
        evidence=source.evidence(series, column),
        interval=source.interval(series, column),
        label=series.label,
        trained=series.trained,
        reasons={seed: reason(series, seed, source.folds) for seed in seeds},
        runs=series.ids,
        declared=bool(testing.against) and is_of(series.newest, testing.against),
    )


def _required(series: Series, family: Iterable[Series]) -> frozenset[int]:
    """List the seeds that a row must have: those of any trained one, and its own that failed."""
    failed = {seed for seed, _ in series.failed}
    if not series.trained:
        return frozenset({*series.by_seed, *failed})
    return frozenset(seed for one in family if one.trained for seed in one.by_seed) | failed


def _row(
    series: Series, cells: tuple[Cell, ...], seeds: frozenset[int], source: Source
) -> TableRow:
    newest = series.newest
    total = newest.total_parameters
    return TableRow(
        method=series.method,
        label=series.label,
        recipe=newest.recipe,
        trainable_percent=100 * newest.trainable_parameters / total if total else None,
        seeds=tuple(series.by_seed),
        cells=cells,
        notes=notes(series, cells, seeds, source.folds, source.columns),
        worst=_worst(cells, source.columns),
        costs=costs(series.runs),
        choice=series.choice,
        flags={run.run_id: run.flags for run in series.runs},
    )
