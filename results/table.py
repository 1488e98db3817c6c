"""Comparison tables as values: what the runs of one setting and one environment show."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from results.columns import Columns, columns
from results.metrics import Metric, metric
from results.record import Run
from results.selection import Conditions, Series, Shelf, shelves, united
from results.standing import Cell, cells
from results.statistics import sample

Folds = Sequence[int | None]


@dataclass(frozen=True)
class Row:
    """One method on one backbone, a cell per column; the notes say what to mind."""

    method: str
    trainable_percent: float
    seeds: tuple[int, ...]
    cells: tuple[Cell, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    """The methods on one backbone: the family within which best and second are named."""

    backbone: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Table:
    """All runs that finished under one setting in one environment, in one metric."""

    conditions: Conditions
    metric: Metric
    signatures: tuple[str, ...]
    seeds: tuple[int, ...]
    folds: tuple[int, ...]
    """Those that a seed's numbers are the mean of; empty without cross-validation."""
    columns: tuple[str, ...]
    blocks: tuple[Block, ...]


def tables(runs: Iterable[Run], clean: bool = False) -> list[Table]:
    """Make a table of each shelf of runs that may be compared and each metric they have.

    The newest shelf comes first, its metrics in the order of the run. With `clean`, tables of
    accuracies also average over the test rows that are not in the training set.
    """
    return [
        _table(shelf, columns(metric(name), shelf.runs, clean))
        for shelf in shelves(runs)
        for name in united(run.metrics for run in shelf.runs)
    ]


def _table(shelf: Shelf, shown: Columns) -> Table:
    blocks = tuple(
        _block(backbone, series, shelf.folds, shown) for backbone, series in shelf.backbones.items()
    )
    seeds = {seed for block in blocks for row in block.rows for seed in row.seeds}
    scores = [run.headline(shown.metric.name).values() for run in shelf.runs]
    return Table(
        conditions=shelf.conditions,
        metric=shown.metric,
        signatures=united([one.signature for one in some if one.signature] for some in scores),
        seeds=tuple(sorted(seeds)),
        folds=tuple(fold for fold in shelf.folds if fold is not None),
        columns=shown.names,
        blocks=blocks,
    )


def _block(backbone: str, family: Sequence[Series], folds: Folds, shown: Columns) -> Block:
    seeds = frozenset(seed for series in family for seed in series.by_seed)
    judged = [_column(name, family, folds, seeds, shown) for name in shown.names]
    rows = (
        _row(series, tuple(column[series.method] for column in judged), folds, seeds)
        for series in family
    )
    return Block(backbone, tuple(rows))


def _column(
    name: str, family: Sequence[Series], folds: Folds, seeds: frozenset[int], shown: Columns
) -> dict[str, Cell]:
    samples = {
        series.method: sample(series.averages(folds, lambda run: shown.numbers(run).get(name)))
        for series in family
    }
    return cells(shown.metric, name, samples, seeds)


def _row(series: Series, cells: tuple[Cell, ...], folds: Folds, seeds: frozenset[int]) -> Row:
    newest = series.newest
    return Row(
        method=series.method,
        trainable_percent=100 * newest.trainable_parameters / newest.total_parameters,
        seeds=tuple(series.by_seed),
        cells=cells,
        notes=(
            *(gap for seed in sorted(seeds) if (gap := _gap(seed, series, cells, folds))),
            *_earlier(series),
            *_flags(series),
        ),
    )


def _gap(seed: int, series: Series, cells: Sequence[Cell], folds: Folds) -> str:
    if seed not in series.by_seed:
        return f"seed {seed} is missing"
    lacking = [f"fold {fold}" for fold in folds if fold not in series.by_seed[seed]]
    lacking = lacking or [cell.column for cell in cells if seed not in cell.sample.by_seed]
    return f"seed {seed} lacks {', '.join(lacking)}" if lacking else ""


def _earlier(series: Series) -> Iterator[str]:
    if series.left_out:
        yield f"runs of an earlier version left out: {series.left_out}"


def _flags(series: Series) -> Iterator[str]:
    """Give every flag once, with its seeds unless all seeds have it."""
    by_seed = {
        seed: united(run.flags for run in by_fold.values())
        for seed, by_fold in series.by_seed.items()
    }
    for flag in united(by_seed.values()):
        seeds = [str(seed) for seed, flags in by_seed.items() if flag in flags]
        yield flag if len(seeds) == len(by_seed) else f"seed {', '.join(seeds)}: {flag}"
