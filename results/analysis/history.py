"""Every attempt ever stored, each summed up in a few values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from results.analysis.averages import Overall, not_finite, overall
from results.analysis.runs import backbones
from results.analysis.runs.costs import Costs, costs
from results.analysis.runs.sources import several, with_version
from results.record import Kind, Run, Status


@dataclass(frozen=True)
class Entry:
    """One attempt, summed up."""

    started: datetime
    run_id: str
    status: Status
    method: str
    label: str
    """The method, with its version where the entries are of several."""
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
    conditions: Mapping[str, Mapping[str, Any]]
    """What was not the default, by part."""
    costs: Costs
    validation_loss: float | None
    """In nats per token."""


def history(newest_first: Iterable[Run], stored: Sequence[Kind] = ()) -> list[Entry]:
    """Sum up attempts, in the order given.

    Args:
        newest_first: The attempts.
        stored: The kinds of all runs, if these are not all; they tell backbones of one name apart.
    """
    runs = list(newest_first)
    names = backbones.names([*stored, *runs])
    more = several(runs)
    return [
        _entry(run, with_version(run.method, run, more), names[run.backbone_identity])
        for run in runs
    ]


def _entry(run: Run, label: str, backbone: str) -> Entry:
    return Entry(
        started=run.started,
        run_id=run.run_id,
        status=run.status,
        method=run.method,
        label=label,
        backbone=backbone,
        group=run.group,
        protocol=run.protocol,
        seed=run.seed,
        fold=run.fold,
        overall=overall(run),
        marks=run.marks,
        notes=not_finite(score for score in run.scores if score.headline),
        reason=run.reason,
        conditions=run.conditions,
        costs=costs([run]),
        validation_loss=run.validation_loss,
    )
