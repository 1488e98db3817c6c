"""The notes of a table row: sentences on what is missing or left out."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from results.analysis.columns import Columns
from results.analysis.ranking import Cell
from results.analysis.runs.sources import version
from results.analysis.runs.versions import changed
from results.analysis.series import Series, unique
from results.record import Run

Folds = Sequence[int | None]

NOT_RUN = "not run"
NO_SCORE = "no score"


def notes(
    series: Series, cells: Sequence[Cell], seeds: Collection[int], folds: Folds, shown: Columns
) -> tuple[str, ...]:
    """Write the notes of one row; `seeds` and `folds` are those that it must have."""
    return (
        *_choice(series),
        *(gap for seed in sorted(seeds) if (gap := _gap(seed, series, cells, folds))),
        *_left_out(series),
        *shown.notes(),
        *_by_seed(series, shown.not_finite),
        *_by_seed(series, changed),
    )


def reason(series: Series, seed: int, folds: Folds) -> str:
    """Say why a seed of a row has no number: it failed, was not run, or has no such score."""
    failed = [run for (of, _), run in series.failed.items() if of == seed]
    if failed:
        return "; ".join(map(_ended, failed))
    if seed not in series.by_seed:
        return NOT_RUN
    absent = [str(fold) for fold in folds if fold not in series.by_seed[seed]]
    return f"{NOT_RUN}: fold {', '.join(absent)}" if absent else NO_SCORE


def _ended(run: Run) -> str:
    fold = "" if run.fold is None else f"fold {run.fold}, "
    why = next(iter(run.reason.splitlines()), "no reason is recorded")
    return f"{run.status}: {fold}{why.rstrip('.')} (run {run.run_id})"


def _choice(series: Series) -> Iterator[str]:
    """Tell a choice with the validation losses of all tries, and nothing else of the others."""
    choice = series.choice
    if choice is None or choice.tries == 1:
        return
    tried = [f"{one.recipe} {_loss(one.validation_loss)}" for one in choice.tried]
    absent = choice.tries - len(tried)
    listed = "; ".join(tried + [f"{absent} {NOT_RUN}"] * (absent > 0))
    seeds = ", ".join(map(str, choice.seeds))
    yield f"lowest validation loss of {choice.tries} tries (seed {seeds}): {listed}"


def _loss(loss: float | None) -> str:
    return "not finished" if loss is None else f"{loss:.4f}"


def _gap(seed: int, series: Series, cells: Sequence[Cell], folds: Folds) -> str:
    if any(of == seed for of, _ in series.failed):
        return f"seed {seed} {reason(series, seed, folds)}"
    if seed not in series.by_seed:
        return f"seed {seed} is missing"
    lacking = [f"fold {fold}" for fold in folds if fold not in series.by_seed[seed]]
    lacking = lacking or [
        cell.column for cell in cells if not cell.complete and seed not in cell.sample.by_seed
    ]
    return f"seed {seed} lacks {', '.join(lacking)}" if lacking else ""


def _left_out(series: Series) -> Iterator[str]:
    """Count the runs of other versions, and name those as far as they are known."""
    if not series.left_out:
        return
    counts = Counter(map(version, series.left_out))
    shown = version(series.newest)
    named = ", ".join(f"{count} of @{one}" if one else f"{count}" for one, count in counts.items())
    of = f"version @{shown}; " if shown else ""
    yield f"{of}runs of another version left out: {named}"


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
