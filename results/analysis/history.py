"""Every attempt ever stored, each summed up in a few values."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from results.analysis.averages import Overall, macro, micro, not_finite, overall
from results.analysis.metrics import metric
from results.analysis.runs import backbones
from results.analysis.runs.costs import Costs, costs
from results.analysis.runs.sources import several, with_version
from results.analysis.runs.versions import changed
from results.fields import MACRO, MICRO, OF_RUNS, TAG, Field, of_environment, of_spec
from results.record import POOLED, Kind, Note, Run, Status


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
    """What a reader must know besides: forgotten, a score not finite, a changed harness."""
    reason: str
    conditions: Mapping[str, Mapping[str, Any]]
    """What was not the default, by part."""
    costs: Costs
    validation_loss: float | None
    """In nats per token."""
    tags: tuple[str, ...]
    written: tuple[Note, ...]
    """The notes of users."""


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
        notes=tuple(_notes(run)),
        reason=run.reason,
        conditions=run.conditions,
        costs=costs([run]),
        validation_loss=run.validation_loss,
        tags=run.tags,
        written=run.notes,
    )


def _notes(run: Run) -> Iterator[str]:
    if run.forgotten:
        yield f"forgotten: {run.forgotten}"
    yield from not_finite(score for score in run.scores if score.headline)
    yield from changed(run)


def row(entry: Entry) -> dict[str, Any]:
    """Give what a line of CSV says of an attempt."""
    overall = entry.overall
    return {
        "run": entry.run_id,
        "started": entry.started.isoformat(),
        "status": entry.status,
        "method": entry.label,
        "backbone": entry.backbone,
        "group": entry.group,
        "protocol": entry.protocol,
        "seed": entry.seed,
        "fold": entry.fold,
        "metric": overall.metric if overall else None,
        "average": overall.average if overall else None,
        "overall": metric(overall.metric).points(overall.value) if overall else None,
        "tags": " ".join(entry.tags),
        "notes": "; ".join([*entry.marks, *entry.notes, *(one.text for one in entry.written)]),
        "reason": entry.reason,
    }


def value(run: Run, field: Field) -> Any:
    """Give what a run has in a field, scores as they are printed; None where it has none."""
    if field.metric:
        return printed(field, _score(run, field))
    if field.name in OF_RUNS:
        return _of_run(run, field.name)
    if field.name == TAG:
        return " ".join(run.tags)
    return {**of_spec(run.spec), **of_environment(run.environment)}.get(field.name)


def printed(field: Field, value: Any) -> Any:
    """Give a value of a field as it is printed: shares in percent."""
    if field.metric and value is not None:
        return metric(field.metric).points(value)
    return value


def _score(run: Run, field: Field) -> float | None:
    scores = run.headline(field.metric)
    if field.benchmark in scores:
        return scores[field.benchmark].value
    of_benchmarks = [one for name, one in scores.items() if name != POOLED]
    average = {MICRO: micro, MACRO: macro}.get(field.benchmark)
    return average(of_benchmarks) if average and of_benchmarks else None


def _of_run(run: Run, name: str) -> Any:
    if name == "started":
        return f"{run.started:%Y-%m-%d %H:%M:%S}"
    if name == "wall_seconds":
        return run.seconds.get("wall")
    return getattr(run, {"run": "run_id", "environment": "environment_id"}.get(name, name))
