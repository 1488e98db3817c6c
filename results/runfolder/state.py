"""How far the last attempt in a run folder is, from its files, their times, and its lock."""

import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from results.runfolder import attempts
from results.runfolder.attempts import Attempt
from results.runfolder.files import RunFolderError
from results.runfolder.folder import RunFolder

How = Literal[
    "empty",
    "waiting",
    "running",
    "finished",
    "diverged",
    "failed",
    "lost",
    "interrupted",
    "cancelled",
    "forgotten",
]
"""`empty`: no run is planned in it yet. `waiting`: one is planned and has not begun. `lost`: its
worker is no longer at work, and left no word of its end. `interrupted`: it was asked to stop, and
the next attempt goes on. `cancelled`: the user wants that none does. `forgotten`: nor that it
counts."""

ENDED: dict[str, How] = {
    "result.json": "finished",
    "divergence.json": "diverged",
    "failure.json": "failed",
}

FRESH = 600.0
"""Seconds after an event or a beat for which a worker counts as at work where its lock cannot be
seen, on a first look: the other machine may have another clock."""


@dataclass(frozen=True)
class State:
    """How far an attempt is."""

    how: How
    time: float = 0.0
    """When it ended, or wrote its last event, in seconds since the epoch; 0 if it did neither."""
    planned: float = 0.0
    """When it was planned; events of before are of an earlier attempt."""
    beat: float = 0.0
    """When the beat was last raised of one whose lock cannot be seen; 0 where none tells."""
    by_lock: bool = False
    """Whether it runs since its lock is held; else since its last event or beat is fresh."""


def state_of(path: str, held: frozenset[int] | None) -> State:
    """Look at the folder at `path`; `held` are the inodes of locked files, where that is known."""
    return _ended(path) or _at_work(path, held) or _stopped(path)


def _ended(path: str) -> State | None:
    if forgotten := changed(path, "forgotten.json"):
        return State("forgotten", forgotten)
    for name, how in ENDED.items():
        if ended := changed(path, name):
            # Scores may be made anew long after a run; its events are not.
            last = changed(path, "events.jsonl")
            return State(how, ended if how == "failed" else last or ended)
    return None


def _at_work(path: str, held: frozenset[int] | None) -> State | None:
    last, planned = changed(path, "events.jsonl"), changed(path, "run.json")
    if held and _inode(path) in held:
        return State("running", last, planned, by_lock=True)
    begun = _last(path)
    beat = changed(path, "attempts", f"{begun.number:04}.json") if begun else 0.0
    if time.time() - max(last, beat) >= FRESH:
        return None
    if begun:
        unseen = held is None or not begun.here
        goes_on = not begun.status and not attempts.is_lost(RunFolder(Path(path)), begun)
    else:
        unseen = held is None or _is_of_another_machine(path)
        goes_on = planned <= last
    return State("running", last, planned, beat) if unseen and goes_on else None


def _stopped(path: str) -> State:
    last, planned = changed(path, "events.jsonl"), changed(path, "run.json")
    if changed(path, "cancel"):
        return State("cancelled", last, planned)
    if planned > last:
        return State("waiting", planned=planned)
    if not last:
        return State("empty")
    begun = _last(path)
    asked = begun is not None and begun.status == "interrupted"
    return State("interrupted" if asked else "lost", last, planned)


def ending(path: str) -> float:
    """Give when the last attempt in the folder at `path` ended; 0 if it has not."""
    return max(changed(path, name) for name in ENDED)


def changed(*path: str) -> float:
    """Give when a file or folder last changed; 0 if it is not there."""
    try:
        # Not Path, which takes as long again: there may be 100,000 folders.
        return os.stat("/".join(path)).st_mtime  # noqa: PTH116
    except OSError:
        return 0.0


def _inode(path: str) -> int:
    try:
        return Path(path, "lock").stat().st_ino
    except OSError:
        return 0


def _last(path: str) -> Attempt | None:
    """Read the last attempt; None if it is damaged, or the folder is of before there were any."""
    try:
        return attempts.last(RunFolder(Path(path)))
    except RunFolderError:
        return None


def _is_of_another_machine(path: str) -> bool:
    """Say whether a run of before attempts began on a machine whose locks are not listed here."""
    try:
        environment = RunFolder(Path(path)).environment()
    except RunFolderError:
        return False
    return environment is not None and environment.machine.get("host") != platform.node()
