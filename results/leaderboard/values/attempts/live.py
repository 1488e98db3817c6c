"""What runs now, and how the newest attempts ended: read from run folders, not from the store."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from statistics import median
from typing import TypeVar

from results.errors import ResultsError
from results.leaderboard.source import Source
from results.leaderboard.values.attempts.at_work import UNTOLD, Ended, Running, ended, running
from results.record import Run
from results.runfolder.files import RunFolderError
from results.runfolder.folder import RunFolder
from results.runfolder.record_of import attempt_of
from results.runfolder.state import How, State
from results.runfolder.survey import Attempt, Survey

EVERY = 1.0
"""Seconds for which what was seen counts as what is."""

USUAL = 5
"""Runs that tell how long one like them takes, the newest."""

REMEMBERED = 1024
"""Attempts whose folders are not read again; more are never at work or shown at a time."""

T = TypeVar("T")


@dataclass(frozen=True)
class LivePage:
    """What is going on in the folder of the run folders."""

    known: bool
    """Whether there is such a folder; without one, nothing is known of runs at work."""
    running: tuple[Running, ...]
    """In the order in which they began."""
    waiting: int
    """Runs that are planned there and have not begun; whoever planned them may be gone."""
    ended: tuple[Ended, ...]
    """The newest, and the newest first."""
    amiss: tuple[Ended, ...]
    """The newest of those that failed, diverged or are lost, and the newest first."""
    counts: Mapping[How, int]
    """How many runs are how far."""


class Live:
    """Looks at the run folders for all visitors, at most once in so many seconds."""

    def __init__(self, source: Source, every: float = EVERY) -> None:
        self._source, self.every = source, every
        self._survey = Survey(source.runs) if source.runs else None
        self._lock = threading.Lock()  # guards what follows
        self._looked = -every
        self._page = LivePage(False, (), 0, (), (), {})
        self._begun = lru_cache(REMEMBERED)(self._begin)
        self._read = lru_cache(REMEMBERED)(self._attempt)
        self._stored: set[tuple[str, datetime]] = set()

    def page(self) -> LivePage:
        """Say what is going on now."""
        with self._lock:
            if self._survey and time.monotonic() - self._looked >= self.every:
                seen = self._survey.look()
                self._page = LivePage(
                    known=seen.there,
                    running=tuple(_readable(self._running, seen.running)),
                    waiting=seen.waiting,
                    ended=tuple(_readable(self._over, seen.ended)),
                    amiss=tuple(_readable(self._over, seen.amiss)),
                    counts=seen.counts,
                )
                self._looked = time.monotonic()
            return self._page

    def _running(self, attempt: Attempt) -> Running:
        run, usual = self._begun(attempt.path, attempt.state.planned)
        return running(run, attempt, usual, hosts=self._source.public.everything)

    def _over(self, attempt: Attempt) -> Ended:
        run = self._read(attempt.path, attempt.state)
        stored = attempt.state.how not in UNTOLD and self._has(run)
        return ended(run, attempt.state, stored=stored)

    def _begin(self, path: str, planned: float) -> tuple[Run, float | None]:
        """Read what is known of an attempt at work, and how long runs like it take, in seconds."""
        run = self._attempt(path, State("running", planned=planned))
        with suppress(ResultsError):
            found = self._source.open().store.runs(
                groups=[run.group],
                methods=[run.method],
                backbones=[run.backbone],
                status="finished",
            )
            like = [one.seconds["wall"] for one in found if one.series == run.series]
            return run, median(like[:USUAL]) if like else None
        return run, None

    def _attempt(self, path: str, state: State) -> Run:
        """Read an attempt, as far as it may be shown."""
        return self._source.public.listed(attempt_of(RunFolder(Path(path)), state))

    def _has(self, run: Run) -> bool:
        """Say whether the store has an attempt; once it has, it is not asked again."""
        this = run.run_id, run.started
        with suppress(ResultsError):
            if this not in self._stored and self._source.open().store.has(run):
                self._stored.add(this)
        return this in self._stored


def _readable(make: Callable[[Attempt], T], attempts: Iterable[Attempt]) -> Iterator[T]:
    """Make a value of each attempt; leave out folders that are damaged or vanish meanwhile."""
    for one in attempts:
        with suppress(RunFolderError):
            yield make(one)
