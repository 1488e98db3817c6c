"""The run folders below a root, looked at again and again: which run now, and which ended.

A look reads little. A folder that came to its end is not opened again; one that waits or failed,
only after something in it changed; and of a run at work, what its worker has appended since.
"""

import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from heapq import nlargest
from pathlib import Path

from results.runfolder import attempts, locks
from results.runfolder.claims import STALE
from results.runfolder.folder import RunFolder, RunFolderError
from results.runfolder.progress import Progress
from results.runfolder.state import How, State, changed, state_of

KEPT = 20
"""Endings that are known, the newest."""

PAUSE = 60.0
"""Seconds without a look after which a folder may be another one of the same name."""

SETTLED = 1.0
"""Seconds after which a change shows in a time stamp, however coarse the clock of the files."""

OVER: tuple[How, ...] = ("finished", "diverged", "forgotten")
"""What is not run again."""

STOPPED: tuple[How, ...] = ("failed", "lost", "interrupted", "cancelled")
"""What is neither over nor at work."""

AMISS: tuple[How, ...] = ("failed", "diverged", "lost")
"""What nobody asked for."""


class Attempt:
    """The last attempt in a run folder, as far as it is known.

    Attributes:
        path: The folder.
        state: How far it is.
        progress: What its events say while it runs; None otherwise.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.state = State("empty")
        self.progress: Progress | None = None
        self._stamp: tuple[float, ...] | None = None
        self._beat: tuple[float, float] | None = None

    @property
    def begun(self) -> attempts.Attempt | None:
        """What the attempt says of itself; None in folders of before, or where it is damaged."""
        with suppress(RunFolderError):
            return attempts.last(self.folder)
        return None

    @property
    def folder(self) -> RunFolder:
        """The folder with its readers."""
        return RunFolder(Path(self.path))

    def look(self, held: frozenset[int] | None) -> None:
        """Look again where something may have changed; `held` are the inodes of locked files."""
        stamp = () if self._stamp is None else self._changed()
        if stamp == self._stamp and self.state.how != "running":
            return
        self._stamp = stamp if time.time() - max(stamp, default=0.0) > SETTLED else ()
        self.state = state_of(self.path, held)
        if self._is_stale():
            self.state = replace(self.state, how="lost")
        self.progress = self._progress() if self.state.how == "running" else None
        if self.progress:
            self.progress.update()

    def _changed(self) -> tuple[float, ...]:
        return changed(self.path), changed(self.path, "events.jsonl")

    def _is_stale(self) -> bool:
        """Whether this process has seen the same beat for long, as others would give it up."""
        beat, now = self.state.beat, time.monotonic()
        if not beat or self._beat is None or self._beat[0] != beat:
            self._beat = beat, now
        return bool(beat) and now - self._beat[1] >= STALE

    def _progress(self) -> Progress:
        known, planned = self.progress, self.state.planned
        again = known and known.since == planned
        return known if known and again else Progress(self.folder, since=planned)


@dataclass(frozen=True)
class Seen:
    """What a look found; nothing where the root is not there."""

    there: bool
    running: tuple[Attempt, ...]
    """In the order in which they began."""
    waiting: int
    """Runs that are planned and have not begun."""
    ended: tuple[Attempt, ...]
    """The newest, and the newest first."""
    amiss: tuple[Attempt, ...]
    """The newest of those that failed, diverged or are lost, and the newest first."""
    counts: Mapping[How, int]
    """How many runs are how far, those without a run left out."""


class Survey:
    """The run folders below `root`, which may be made later. One thread looks at a time."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._looked = self._listed = 0.0
        self._names: set[str] = set()
        self._open: dict[str, Attempt] = {}
        self._over: list[Attempt] = []
        self._how: dict[str, How] = {}

    def look(self) -> Seen:
        """Say what is going on now."""
        there = self._list()
        held = locks.held(self.root) if there else None
        for one in self._open.values():
            one.look(held)
        over = {name: one for name, one in self._open.items() if one.state.how in OVER}
        self._how |= {name: one.state.how for name, one in over.items()}
        self._over = _kept([*self._over, *over.values()])
        self._open = {name: one for name, one in self._open.items() if name not in over}
        ended = [*self._over, *self._all(*STOPPED)]
        return Seen(
            there=there,
            running=tuple(sorted(self._all("running"), key=_began)),
            waiting=len(self._all("waiting")),
            ended=tuple(_newest(ended)),
            amiss=tuple(_newest(one for one in ended if one.state.how in AMISS)),
            counts=self._counted(),
        )

    def _counted(self) -> Mapping[How, int]:
        found = Counter(self._how.values())
        found.update(one.state.how for one in self._open.values())
        del found["empty"]
        return dict(found)

    def _all(self, *how: How) -> list[Attempt]:
        return [one for one in self._open.values() if one.state.how in how]

    def _list(self) -> bool:
        """Find which folders are new or no longer there; say whether the root is."""
        now, stamp = time.time(), changed(str(self.root))
        paused, self._looked = now - self._looked > PAUSE, now
        if stamp and stamp == self._listed:
            return True
        names = _below(self.root)
        known = set() if paused else self._names & names
        self._over = [one for one in self._over if one.folder.path.name in known]
        self._how = {name: how for name, how in self._how.items() if name in known}
        self._open = {name: one for name, one in self._open.items() if name in known}
        self._open |= {name: Attempt(f"{self.root}/{name}") for name in names - known}
        self._names = names
        self._listed = stamp if now - stamp > SETTLED else 0.0
        return bool(stamp)


def _below(root: Path) -> set[str]:
    """Name the folders below `root`, if it is there."""
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(root) as entries:
        # A rerun works below a name with a dot, and moves or removes the folder at its end.
        return {one.name for one in entries if one.name[0] != "." and one.is_dir()}
    return set()


def _began(attempt: Attempt) -> float:
    """Give when a run wrote its first event; one that has not yet is the newest."""
    return (attempt.progress and attempt.progress.began) or time.time()


def _kept(over: Sequence[Attempt]) -> list[Attempt]:
    """Keep the newest that finished, and the newest that diverged."""
    several = ([one for one in over if one.state.how == how] for how in ("finished", "diverged"))
    return [one for same in several for one in _newest(same)]


def _newest(of: Iterable[Attempt]) -> list[Attempt]:
    return nlargest(KEPT, of, key=lambda one: one.state.time)
