"""Comparison tables as values: the runs of one setting in one environment."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from results.analysis.columns import Columns, columns
from results.analysis.metrics import Metric, metric
from results.analysis.ranking import Cell, cells, unranked
from results.analysis.series import Comparable, Conditions, Series, comparables, unique
from results.record import Run
from results.statistics.sample import sample

Folds = Sequence[int | None]

SIGNATURES = "scores of two signatures do not compare"


@dataclass(frozen=True)
class TableRow:
    """One method on one backbone, a cell per column; the notes are sentences for the reader."""

    method: str
    trainable_percent: float
    seeds: tuple[int, ...]
    cells: tuple[Cell, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    """The methods on one backbone: the family within which they are ranked and tested."""

    backbone: str
    rows: tuple[TableRow, ...]


@dataclass(frozen=True)
class Table:
    """All runs that finished under one setting in one environment, in one metric."""

    conditions: Conditions
    metric: Metric
    signatures: tuple[str, ...]
    """Of its scores; with more than one, no cell has a rank or a test."""
    seeds: tuple[int, ...]
    folds: tuple[int, ...]
    """Those that a seed's numbers are the mean of; empty without cross-validation."""
    columns: tuple[str, ...]
    blocks: tuple[Block, ...]


def tables(runs: Iterable[Run], clean: bool = False) -> list[Table]:
    """Make a table of each set of comparable runs and each metric they have.

    The newest set comes first, its metrics in the order of the run. With `clean`, tables of
    accuracies also average over the test rows that are not in the training set.
    """
    return [
        _table(comparable, columns(metric(name), comparable.runs, clean))
        for comparable in comparables(runs)
        for name in unique(run.metrics for run in comparable.runs)
    ]


def _table(comparable: Comparable, shown: Columns) -> Table:
    blocks = tuple(
        _block(backbone, series, comparable.folds, shown)
        for backbone, series in comparable.backbones.items()
    )
    seeds = {seed for block in blocks for row in block.rows for seed in row.seeds}
    signatures = _signatures(comparable, shown.metric)
    if len(signatures) > 1:
        blocks = tuple(map(_unranked, blocks))
    return Table(
        conditions=comparable.conditions,
        metric=shown.metric,
        signatures=signatures,
        seeds=tuple(sorted(seeds)),
        folds=tuple(fold for fold in comparable.folds if fold is not None),
        columns=shown.names,
        blocks=blocks,
    )


def _signatures(comparable: Comparable, of: Metric) -> tuple[str, ...]:
    runs = [
        run for family in comparable.backbones.values() for series in family for run in series.runs
    ]
    scores = [score for run in runs for score in run.headline(of.name).values()]
    return unique([[score.signature for score in scores if score.signature]])


def _unranked(block: Block) -> Block:
    rows = (
        replace(row, cells=tuple(unranked(cell, SIGNATURES) for cell in row.cells))
        for row in block.rows
    )
    return replace(block, rows=tuple(rows))


def _block(backbone: str, family: Sequence[Series], folds: Folds, shown: Columns) -> Block:
    seeds = frozenset(seed for series in family for seed in series.by_seed)
    ranked = [_column(name, family, folds, seeds, shown) for name in shown.names]
    rows = (
        _row(series, tuple(column[series.method] for column in ranked), folds, seeds, shown)
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
    return cells(shown.metric, name, samples, frozenset() if name in shown.unfilled else seeds)


def _row(
    series: Series, cells: tuple[Cell, ...], folds: Folds, seeds: frozenset[int], shown: Columns
) -> TableRow:
    newest = series.newest
    return TableRow(
        method=series.method,
        trainable_percent=100 * newest.trainable_parameters / newest.total_parameters,
        seeds=tuple(series.by_seed),
        cells=cells,
        notes=(
            *(gap for seed in sorted(seeds) if (gap := _gap(seed, series, cells, folds))),
            *_earlier(series),
            *shown.notes(),
            *_by_seed(series, shown.not_finite),
            *_by_seed(series, lambda run: run.flags),
        ),
    )


def _gap(seed: int, series: Series, cells: Sequence[Cell], folds: Folds) -> str:
    if seed not in series.by_seed:
        return f"seed {seed} is missing"
    lacking = [f"fold {fold}" for fold in folds if fold not in series.by_seed[seed]]
    lacking = lacking or [
        cell.column for cell in cells if not cell.complete and seed not in cell.sample.by_seed
    ]
    return f"seed {seed} lacks {', '.join(lacking)}" if lacking else ""


def _earlier(series: Series) -> Iterator[str]:
    if series.left_out:
        yield f"runs of an earlier version left out: {series.left_out}"


def _by_seed(series: Series, found: Callable[[Run], Sequence[str]]) -> tuple[str, ...]:
    """Give what is found in the runs of a row, each text once."""
    by_seed = {
        seed: _once("fold", {fold: found(run) for fold, run in by_fold.items()})
        for seed, by_fold in series.by_seed.items()
    }
    return _once("seed", by_seed)


def _once(word: str, texts: Mapping[Any, Sequence[str]]) -> tuple[str, ...]:
    """Give every text once, with the seeds or folds that have it unless all have it."""

    def noted(text: str) -> str:
        having = [str(key) for key, found in texts.items() if text in found]
        return text if len(having) == len(texts) else f"{word} {', '.join(having)}: {text}"

    return tuple(map(noted, unique(texts.values())))
