"""An attempt at work and one that ended: as values, and as texts that a page keeps up to date."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import isfinite

from results.analysis.averages import overall
from results.record import Run
from results.reports import prose
from results.reports.costs import size
from results.reports.times import clock, duration
from results.runfolder.progress import LOSSES, Progress
from results.runfolder.state import How, State
from results.runfolder.survey import Attempt

SILENT = 120.0
"""Seconds without an event after which that is said."""

HIGH = 16
"""The height of a drawn curve; its width is the number of losses."""

MOST = 300
"""Characters of a text that is sent every second."""

UNSEEN = "seen by its events and beats alone"
UNSTORED = "not in the store"

UNTOLD: tuple[How, ...] = ("lost", "interrupted", "cancelled")
"""Attempts that left no result and no failure, so that the store never has them."""

Shown = dict[str, str]
"""What the page shows, by its place in a row; empty where nothing is known."""


@dataclass(frozen=True)
class Named:
    """What names a run."""

    run: str
    method: str
    backbone: str
    group: str
    seed: int
    fold: int | None
    protocol: str
    """With what is not the default, of the recipe too."""

    @property
    def text(self) -> str:
        """What a reader calls the run."""
        fold = "" if self.fold is None else f", fold {self.fold}"
        return f"{self.method} on {self.backbone}, {self.group}, seed {self.seed}{fold}"


@dataclass(frozen=True)
class Running(Named):
    """A run that a worker works on; times in seconds, None where they are not known."""

    by_lock: bool
    """Whether its lock tells that it runs; else only its last event does."""
    phase: str
    """With the benchmark, where it has one."""
    done: int
    """Steps, answers or likelihoods."""
    of: int | None
    loss: float | None
    """Mean per token of the last step, in nats; None where it is not finite."""
    tokens_per_second: float | None
    began: datetime | None
    spent: float | None
    phase_spent: float | None
    phase_left: float | None
    """To the end of the phase, at its speed so far."""
    left: float | None
    """To the end of the run, by finished runs that differ from it in seed and fold alone."""
    silent: float | None
    """Since its last event."""
    memory: int | None
    """Most bytes in use so far: of the GPU, or of the process where there is none."""
    host: str
    """The machine that it is on, where that is another one and may be shown."""
    shown: Shown


@dataclass(frozen=True)
class Ended(Named):
    """An attempt that ended."""

    ended: datetime
    how: How
    reason: str
    """The first line of why it did not finish."""
    stored: bool
    """Whether the store has it; those of `UNTOLD` it never has."""
    shown: Shown


def running(run: Run, seen: Attempt, usual: float | None, *, hosts: bool) -> Running:
    """Say how far a run is.

    Args:
        run: What is known of it.
        seen: The attempt at work.
        usual: Seconds that a run like it takes, where known.
        hosts: Whether names of machines may be shown.
    """
    progress, begun = seen.progress, seen.begun
    assert progress
    event, spent = progress.latest, _since(progress.began)
    found = Running(
        **vars(named(run)),
        by_lock=seen.state.by_lock,
        phase=" ".join(filter(None, (progress.phase, event.benchmark))),
        done=progress.done,
        of=event.of,
        loss=event.loss if event.loss is not None and isfinite(event.loss) else None,
        tokens_per_second=progress.tokens_per_second,
        began=None if progress.began is None else datetime.fromtimestamp(progress.began, UTC),
        spent=spent,
        phase_spent=_since(progress.phase_began),
        phase_left=progress.left,
        left=_left(usual, spent, progress.left),
        silent=_since(progress.heard),
        memory=begun.peak_memory_bytes or None if begun else None,
        host=begun.host if begun and hosts and not begun.here else "",
        shown={},
    )
    return replace(found, shown=_shown(found, progress))


def _since(moment: float | None) -> float | None:
    # Another machine may have another clock.
    return None if moment is None else max(0.0, time.time() - moment)


def _left(usual: float | None, spent: float | None, phase_left: float | None) -> float | None:
    """Say how long a run still takes: what is left of its phase, at least."""
    if usual is None or spent is None:
        return None
    return max(usual - spent, phase_left or 0.0) or None


def _shown(one: Running, progress: Progress) -> Shown:
    loss = progress.latest.loss
    where = one.host and f"on {one.host}"
    notes = (where, "" if one.by_lock else UNSEEN, silence(one.silent))
    return {
        "name": one.text[:MOST],
        "protocol": one.protocol[:MOST],
        "phase": one.phase,
        "done": f"{one.done:,} of {one.of:,}" if one.of else "",
        "loss": "" if loss is None else f"{loss:.3f}",
        "curve": points(progress.losses),
        "speed": "" if one.tokens_per_second is None else f"{one.tokens_per_second:,.0f}",
        "memory": "" if one.memory is None else size(one.memory),
        "began": "" if one.began is None else moment(one.began),
        "spent": _written(one.spent, clock),
        "phase_spent": _written(one.phase_spent, clock),
        "phase_left": _written(one.phase_left, duration),
        "left": _written(one.left, duration),
        "notes": "; ".join(filter(None, notes)),
    }


def silence(seconds: float | None) -> str:
    """Say that there was no event for long.

    >>> silence(700), silence(5)
    ('no event for 12 min', '')
    """
    return f"no event for {duration(seconds)}" if seconds and seconds > SILENT else ""


def _written(seconds: float | None, write: Callable[[float], str]) -> str:
    return "" if seconds is None else write(seconds)


def ended(run: Run, state: State, *, stored: bool) -> Ended:
    """Say how an attempt ended."""
    names, how, at = named(run), state.how, datetime.fromtimestamp(state.time, UTC)
    reason = next(iter(run.reason.splitlines()), "")
    return Ended(
        **vars(names),
        ended=at,
        how=how,
        reason=reason,
        stored=stored,
        shown={
            "name": names.text[:MOST],
            "protocol": names.protocol[:MOST],
            "ended": moment(at),
            "how": how,
            "outcome": prose.overall(overall(run)) if how == "finished" else reason[:MOST],
            "notes": "" if stored or how in UNTOLD else UNSTORED,
        },
    )


def named(run: Run) -> Named:
    """Give what names a run."""
    return Named(
        run=run.run_id,
        method=run.method,
        backbone=run.backbone,
        group=run.group,
        seed=run.seed,
        fold=run.fold,
        protocol=prose.how(run.protocol, run.conditions),
    )


def moment(when: datetime) -> str:
    """Write a moment in UTC."""
    return f"{when:%Y-%m-%d %H:%M:%S}"


def points(losses: Sequence[float]) -> str:
    """Draw losses as points of a line, the lowest at the bottom; those not finite are left out.

    >>> points([3.0, float("nan"), 2.0, 1.0])
    '57,1 58,8 59,15'
    """
    known = [loss for loss in losses if isfinite(loss)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    scale = (HIGH - 2) / (high - low) if high > low else 0.0
    drawn = enumerate(known, start=LOSSES - len(known))
    return " ".join(f"{x},{HIGH - 1 - (loss - low) * scale:.3g}" for x, loss in drawn)
