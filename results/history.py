"""Every attempt ever stored, one line each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from results.averages import Overall, overall
from results.grid import grid
from results.record import Run, Status

HEADER = (
    *("started", "run", "status", "method", "backbone", "group"),
    *("protocol", "seed", "fold", "overall", "remarks"),
)


@dataclass(frozen=True)
class Entry:
    """What the history tells of one attempt."""

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
    reason: str


def history(runs: Iterable[Run]) -> list[Entry]:
    """Sum up attempts, in the order given."""
    return [_entry(run) for run in runs]


def markdown(entries: Sequence[Entry]) -> str:
    """Write the history as a table; a failed attempt shows the first line of its reason."""
    return grid(HEADER, map(_line, entries), align="lllllllrrll")


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
        reason=run.reason,
    )


def _line(entry: Entry) -> list[str]:
    return [
        f"{entry.started:%Y-%m-%d %H:%M}",
        entry.run_id,
        entry.status,
        entry.method,
        entry.backbone,
        entry.group,
        entry.protocol,
        str(entry.seed),
        "-" if entry.fold is None else str(entry.fold),
        str(entry.overall or "-"),
        "; ".join([*entry.marks, *entry.reason.splitlines()[:1]]),
    ]
