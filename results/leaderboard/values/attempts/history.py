"""Runs over time, what failed and why: as values that the page and the API share."""

from dataclasses import dataclass
from datetime import datetime
from typing import get_args

from results.analysis.history import Entry, history
from results.leaderboard.source import Opened
from results.leaderboard.values.paging import pages
from results.record import Status
from results.reports import costs, prose

PAGE = 100
"""Attempts on a page."""


@dataclass(frozen=True)
class Attempt:
    """One attempt at a run."""

    run: str
    started: datetime
    status: Status
    reason: str
    """The first line of why it failed or diverged."""
    method: str
    backbone: str
    group: str
    protocol: str
    seed: int
    fold: int | None
    overall: str
    time: str
    """Wall-clock time of the training."""
    marks: tuple[str, ...]


@dataclass(frozen=True)
class HistoryPage:
    """A page of attempts, newest first."""

    status: Status | None
    """Only those that ended so; None for all."""
    page: int
    """From 1."""
    pages: int
    counts: dict[str, int]
    """Of all attempts, by status."""
    attempts: tuple[Attempt, ...]


def history_page(opened: Opened, status: Status | None = None, page: int = 1) -> HistoryPage:
    """Make the values of a page of attempts; a page after the last is empty."""
    counted = opened.store.counts()
    counts = {one: counted.get(one, 0) for one in get_args(Status)}
    shown = counts[status] if status else sum(counts.values())
    runs = opened.attempts((page - 1) * PAGE, PAGE, status)
    return HistoryPage(
        status=status,
        page=page,
        pages=pages(shown, PAGE),
        counts=counts,
        attempts=tuple(map(_attempt, history(runs, opened.kinds))),
    )


def _attempt(entry: Entry) -> Attempt:
    return Attempt(
        run=entry.run_id,
        started=entry.started,
        status=entry.status,
        reason=next(iter(entry.reason.splitlines()), ""),
        method=entry.label,
        backbone=entry.backbone,
        group=entry.group,
        protocol=prose.how(entry.protocol, entry.conditions),
        seed=entry.seed,
        fold=entry.fold,
        overall=prose.overall(entry.overall),
        time=costs.seconds(entry.costs.training_seconds),
        marks=entry.marks,
    )
