"""The notes of a table row: sentences on what is missing or left out."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from results.analysis.columns import Columns
from results.analysis.ranking import Cell
from results.analysis.series import Series, unique
from results.record import Run

Folds = Sequence[int | None]


def notes(
    series: Series, cells: Sequence[Cell], seeds: Collection[int], folds: Folds, shown: Columns
) -> tuple[str, ...]:
    """Write the notes of one row; `seeds` and `folds` are those that it must have."""
    return (
        *(gap for seed in sorted(seeds) if (gap := _gap(seed, series, cells, folds))),
        *_earlier(series),
        *shown.notes(),
        *_by_seed(series, shown.not_finite),
    )


def _gap(seed: int, series: Series, cells: Sequence[Cell], folds: Folds) -> str:
    if seed not in series.by_seed:
        return f"seed {seed} is missing"
    if diverged := [run for run in series.by_seed[seed].values() if run.status == "diverged"]:
        return "; ".join(map(_diverged, diverged))
    lacking = [f"fold {fold}" for fold in folds if fold not in series.by_seed[seed]]
    lacking = lacking or [
        cell.column for cell in cells if not cell.complete and seed not in cell.sample.by_seed
    ]
    return f"seed {seed} lacks {', '.join(lacking)}" if lacking else ""


def _diverged(run: Run) -> str:
    fold = "" if run.fold is None else f", fold {run.fold},"
    return f"seed {run.seed}{fold} diverged at {run.reason}"


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
