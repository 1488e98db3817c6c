"""How far the last attempt in a run folder is, from the times of its files and from its lock."""

import os
import platform
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from results.runfolder.files import RunFolderError
from results.runfolder.folder import RunFolder

How = Literal["empty", "waiting", "running", "finished", "diverged", "failed", "lost"]
"""`empty`: no run is planned in it yet. `waiting`: one is planned and has not begun. `lost`: its
worker is no longer at work, and left no word of its end."""

ENDED: dict[str, How] = {
    "result.json": "finished",
    "divergence.json": "diverged",
    "failure.json": "failed",
}

FRESH = 600.0
"""Seconds after an event for which a worker counts as at work where its lock cannot be seen."""


@dataclass(frozen=True)
class State:
    """How far an attempt is."""

    how: How
    time: float = 0.0
    """When it ended, or wrote its last event, in seconds since the epoch; 0 if it did neither."""
    planned: float = 0.0
    """When it was planned; events of before are of an earlier attempt."""
    by_lock: bool = False
    """Whether it runs since its lock is held; else since its last event is fresh."""


def state_of(path: str, held: frozenset[int] | None) -> State:
    """Look at the folder at `path`; `held` are the inodes of locked files, where that is known."""
    last = changed(path, "events.jsonl")
    for name, how in ENDED.items():
        if ended := changed(path, name):
            # Scores may be made anew long after a run; its events are not.
            return State(how, ended if how == "failed" else last or ended)
    planned = changed(path, "run.json")
    if held and _inode(path) in held:
        return State("running", last, planned, by_lock=True)
    if planned > last:
        return State("waiting", planned=planned)
    if not last:
        return State("empty")
    fresh = time.time() - last < FRESH
    unseen = fresh and (held is None or _is_of_another_machine(path))
    return State("running" if unseen else "lost", last, planned)


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


def _is_of_another_machine(path: str) -> bool:
    """Say whether the attempt began on a machine whose locks are not listed here."""
    try:
        environment = RunFolder(Path(path)).environment()
    except RunFolderError:
        return False
    return environment is not None and environment.machine.get("host") != platform.node()
