"""Every attempt ever stored, each summed up in a few values."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from results.analysis.averages import Overall, not_finite, overall
from results.record import Run, Status


@dataclass(frozen=True)
class Entry:
    """One attempt, summed up."""

    started: datetime
    run_id: str
    status: Status
    method: str
    backbone: str
    group: str
    protocol: str
    seed: int
    fold: int | None
    overall: Overall | None
    marks: tuple[str, ...]
    notes: tuple[str, ...]
    """The headline scores that are infinite or NaN."""
    reason: str


def history(runs: Iterable[Run]) -> list[Entry]:
    """Sum up attempts, in the order given."""
    return [_entry(run) for run in runs]


def _entry(run: Run) -> Entry:
    return Entry(
        started=run.started,
        run_id=run.run_id,
        status=run.status,
        method=run.method,
        backbone=run.backbone,
        group=run.group,
        protocol=run.protocol,
        seed=run.seed,
        fold=run.fold,
        overall=overall(run),
        marks=run.marks,
        notes=not_finite(score for score in run.scores if score.headline),
        reason=run.reason,
    )
