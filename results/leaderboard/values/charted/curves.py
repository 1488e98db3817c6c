"""Losses by step, with bands over the runs of a method: as values that page and API share."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from pathlib import Path
from statistics import fmean

from results.analysis.table import Block, TableRow
from results.leaderboard.source import Opened
from results.leaderboard.values.charted.means import (
    Charted,
    Choices,
    Missing,
    Subject,
    charted,
    choices,
    subject,
)
from results.leaderboard.values.tables import found
from results.leaderboard.view import View
from results.record import Run
from results.runfolder.events import losses, read_new
from results.runfolder.folder import RunFolder
from results.runfolder.values import Event

POINTS = 40
"""Of a training loss: each is the mean over as many steps as that leaves."""

KEPT = 512
"""Runs whose curves are kept in memory, of some 10 KB each."""

BAND = (
    "Thin: the training loss, mean over the steps since the point before. Bold: the validation "
    "loss. Bands: from the lowest to the highest run. Both end where the shortest run ends."
)
GONE = "its run folder is not where the store says"
NO_LOSS = "its run folder holds no losses"

Losses = tuple[tuple[int, float], ...]
"""Steps, each with a loss in nats per token."""


@dataclass(frozen=True)
class Trained:
    """The losses of one run, all of them finite."""

    loss: Losses
    validation_loss: Losses
    tokens: Mapping[int, int]
    """Tokens trained on, by step."""
    planned: int
    """Steps, had it not ended before."""
    broken_off: str
    """Where a loss was not finite; empty if all were."""


@dataclass(frozen=True)
class CurvePoint:
    """A loss after a step, in nats per token."""

    step: int
    tokens: int | None
    """Trained on by then, mean over the runs; None where that is not known."""
    mean: float
    low: float
    """Of the run with the lowest."""
    high: float


@dataclass(frozen=True)
class Curve:
    """The losses of a method, mean and extremes over its runs."""

    method: str
    title: str
    runs: tuple[str, ...]
    seeds: tuple[int, ...]
    loss: tuple[CurvePoint, ...]
    validation_loss: tuple[CurvePoint, ...]
    missing: tuple[Missing, ...]
    """Its runs that are left out, and why."""


@dataclass(frozen=True)
class Curves:
    """The curves of the methods of one table on one backbone."""

    subject: Subject
    curves: tuple[Curve, ...]
    lowest: float | None
    """The lowest mean validation loss of any of them."""
    hidden: int
    notes: tuple[str, ...]
    summary: str


@dataclass(frozen=True)
class CurvesPage:
    """The training curves of a view."""

    choices: Choices
    charts: tuple[Curves, ...]


def curves_page(opened: Opened, asked: View) -> CurvesPage:
    """Make the training curves of a view; tables of the same runs share theirs.

    Raises:
        ResultsError: There is no such group or backbone.
    """
    view = opened.completed(asked)
    made = found(opened, view)
    charts: dict[frozenset[str], Curves] = {}
    for one in charted(opened, made, view):
        for block in one.table.blocks:
            ids = frozenset(run for row in block.rows for run in row.flags)
            if ids not in charts:
                seeds = {run: made.runs[run].seed for run in ids}
                charts[ids] = _Read(one, seeds, opened.folders(ids)).curves(block, view)
    return CurvesPage(choices(opened, view, made), tuple(charts.values()))


@dataclass(frozen=True)
class _Read:
    """A table, the seeds of its runs and the folders that are there, by the ids of the runs."""

    of: Charted
    seeds: Mapping[str, int]
    folders: Mapping[str, RunFolder]

    def curves(self, block: Block, view: View) -> Curves:
        every = [self._curve(row) for row in block.rows if row.trained]
        ends = [point.mean for curve in every for point in curve.validation_loss]
        shown = tuple(curve for curve in every if view.shows(curve.method, curve.title))
        return Curves(
            subject=subject(self.of, block),
            curves=shown,
            lowest=min(ends, default=None),
            hidden=len(every) - len(shown),
            notes=(BAND,) if any(curve.loss for curve in every) else (),
            summary=f"Losses of {len(every)} methods by optimizer step, in nats per token.",
        )

    def _curve(self, row: TableRow) -> Curve:
        ids = tuple(row.flags)
        there = {run: losses_of(self.folders[run]) for run in ids if run in self.folders}
        used = {run: losses for run, losses in there.items() if losses.loss}
        left_out = [(run, NO_LOSS if run in there else GONE) for run in ids if run not in used]
        unfinished = {
            seed: why.partition(":")[0] for cell in row.cells for seed, why in cell.missing.items()
        }
        return Curve(
            method=self.of.labels[row.label],
            title=row.label,
            runs=tuple(used),
            seeds=tuple(dict.fromkeys(self.seeds[run] for run in used)),
            loss=averaged(used.values(), windows),
            validation_loss=averaged(used.values(), lambda one: one.validation_loss),
            missing=(
                *(Missing(f"run {run}, seed {self.seeds[run]}", why) for run, why in left_out),
                *(
                    Missing(f"seed {seed}", why.partition(":")[0])
                    for seed, why in unfinished.items()
                ),
            ),
        )


def curve_of(run: Run, folder: RunFolder) -> Curve | None:
    """Give the losses of one run; None where its folder tells of none."""
    read = losses_of(folder)
    if not read.loss:
        return None
    return Curve(
        method=run.method,
        title=run.method,
        runs=(run.run_id,),
        seeds=(run.seed,),
        loss=averaged([read], windows),
        validation_loss=averaged([read], lambda one: one.validation_loss),
        missing=(Missing("losses", read.broken_off),) if read.broken_off else (),
    )


def averaged(runs: Collection[Trained], of: Callable[[Trained], Losses]) -> tuple[CurvePoint, ...]:
    """Average the curves of runs over the steps that all of them have."""
    by_step = [dict(of(run)) for run in runs]
    common = sorted(set.intersection(*map(set, by_step))) if by_step else []
    return tuple(_point(step, [one[step] for one in by_step], runs) for step in common)


def _point(step: int, losses: Sequence[float], runs: Collection[Trained]) -> CurvePoint:
    tokens = [one.tokens[step] for one in runs if step in one.tokens]
    return CurvePoint(
        step=step,
        tokens=round(fmean(tokens)) if tokens else None,
        mean=fmean(losses),
        low=min(losses),
        high=max(losses),
    )


def windows(of: Trained) -> Losses:
    """Average a training loss over windows of steps, so that at most `POINTS` are left.

    A window is named by its last step. How wide it is depends on the steps that were planned, so
    that the runs of a method have the same windows though one may end early.
    """
    width = -(-of.planned // POINTS)
    found: dict[int, list[tuple[int, float]]] = {}
    for step, loss in of.loss:
        found.setdefault(-(-step // width), []).append((step, loss))
    return tuple((own[-1][0], fmean(loss for _, loss in own)) for own in found.values())


def losses_of(folder: RunFolder) -> Trained:
    """Read the losses of a run."""
    if not folder.events.is_file():
        return _sorted([])
    told = folder.events.stat()
    return _read(folder.events, told.st_mtime_ns, told.st_size)


@lru_cache(KEPT)
def _read(events: Path, changed: int, size: int) -> Trained:
    """Read losses once, until the file changes."""
    return _sorted(read_new(events, 0)[0])


def _sorted(events: Sequence[Event]) -> Trained:
    moments = losses(events)
    steps = [one for one in moments if one.loss is not None]
    return Trained(
        loss=_finite((one.step, one.loss) for one in steps),
        validation_loss=_finite((one.step, one.validation_loss) for one in moments),
        tokens={one.step: one.tokens for one in steps if one.step and one.tokens},
        planned=max((one.of or one.step or 0 for one in steps), default=0),
        broken_off=_broken_off(moments),
    )


def _finite(losses: Iterable[tuple[int | None, float | None]]) -> Losses:
    return tuple(
        (step, loss) for step, loss in losses if step and loss is not None and isfinite(loss)
    )


def _broken_off(moments: Sequence[Event]) -> str:
    for one in moments:
        loss = one.loss if one.loss is not None else one.validation_loss
        if loss is not None and not isfinite(loss):
            return f"{loss} from step {one.step} on"
    return ""
