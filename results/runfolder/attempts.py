"""The attempts at a run, a file for each start of it: the highest number has the run.

A file is made whole and only where there is none of its number, so two processes never start the
same attempt. The process at work replaces it as it goes on. An attempt that ended without a word
stays as it was; beside that of a process that others gave up lies `NUMBER.lost`.
"""

import os
import platform
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Literal

from results.runfolder import files, locks
from results.runfolder.folder import AlreadyRunningError, RunFolder
from results.runfolder.values import FailureKind, FileValue

RELEASED = 1.0
"""Seconds within which the system releases what a process held that has just ended."""

AttemptStatus = Literal["finished", "diverged", "failed", "interrupted"]


class Attempt(FileValue):
    """One start of a run."""

    number: int
    """From 1, in the order of the starts."""
    token: str
    """A random text, by which files of the run say which attempt wrote them."""
    host: str
    """The name of the machine."""
    pid: int
    """The process that is at work, or was."""
    started: float
    """Seconds since the epoch, by the clock of that machine."""
    beat: int = 0
    """Raised every few seconds while the process is at work."""
    seconds: Mapping[str, float] = {}
    """Seconds of each phase so far, and of the whole attempt under "wall"."""
    peak_memory_bytes: int = 0
    """Most memory in use so far: of the GPU, or of the process where there is none."""
    status: AttemptStatus | None = None
    """How it ended; null while it is at work, and for good where it left no word of its end."""
    kind: FailureKind | None = None
    """What sort of failure it was; null for all that did not fail."""
    reason: str = ""
    """Why it failed or diverged."""

    @property
    def here(self) -> bool:
        """Whether it began on this machine, where the lock of the folder tells if it goes on."""
        return self.host == platform.node()


def attempts(folder: RunFolder) -> list[Attempt]:
    """Read all attempts, the first one first; folders of before have none."""
    return [read(path) for path in sorted(_place(folder).glob("[0-9]*.json"))]


def read(path: Path) -> Attempt:
    """Read an attempt.

    Raises:
        RunFolderError: The file is damaged, or of another number than its name says.
    """
    with files.naming(path):
        found = Attempt.model_validate_json(files.read(path))
        if _name(found.number) != path.name:
            raise ValueError(f"it is of attempt {found.number}")
        return found


def last(folder: RunFolder) -> Attempt | None:
    """Read the attempt that has the run, or had it last."""
    paths = sorted(_place(folder).glob("[0-9]*.json"))
    return read(paths[-1]) if paths else None


def begin(folder: RunFolder) -> Attempt | None:
    """Start the next attempt, of this process, which has the folder's lock.

    None if a process of another machine may be at work, or was quicker to start.
    """
    before = last(folder)
    if before and may_go_on(folder, before):
        return None
    attempt = Attempt(
        number=before.number + 1 if before else 1,
        token=token_hex(8),
        host=platform.node(),
        pid=os.getpid(),
        started=time.time(),
    )
    path = _place(folder) / _name(attempt.number)
    return attempt if files.write_new(path, _text(attempt)) else None


def keep(folder: RunFolder, attempt: Attempt) -> None:
    """Write what became of an attempt so far."""
    files.write(_place(folder) / _name(attempt.number), _text(attempt))


def lose(folder: RunFolder, attempt: Attempt) -> None:
    """Give an attempt up whose beat has not changed for long: from now on another may start."""
    files.write_new(_lost(folder, attempt.number), "")


def is_lost(folder: RunFolder, attempt: Attempt) -> bool:
    """Whether the process of an attempt may write nothing more: it was given up or replaced."""
    following = _place(folder) / _name(attempt.number + 1)
    return _lost(folder, attempt.number).exists() or following.exists()


def may_go_on(folder: RunFolder, attempt: Attempt) -> bool:
    """Whether the process of an attempt may be at work, seen by one that has the folder's lock."""
    return not (attempt.status or attempt.here or is_lost(folder, attempt))


def close(folder: RunFolder, reason: str, kind: FailureKind, *, gone: bool = False) -> None:
    """Write why the last attempt failed, whose process has ended; into it too, if it is open.

    A folder whose worker died before it began an attempt gets the failure alone.

    Args:
        folder: Of the run.
        reason: Why it failed.
        kind: What sort of failure that is.
        gone: Whether its process is known to have ended, if it began on another machine too.

    Raises:
        AlreadyRunningError: Another process has the run by now.
    """
    with locks.lock(folder.path, RELEASED):
        attempt = last(folder)
        if attempt is None:
            folder.note_failure(reason, kind=kind)
            return
        if not gone and may_go_on(folder, attempt):
            raise AlreadyRunningError(f"a process of another machine works in {folder.path}")
        if not attempt.status:
            ended = {"status": "failed", "kind": kind, "reason": files.written(reason)}
            keep(folder, attempt.model_copy(update=ended))
        wall, began = attempt.seconds.get("wall", 0.0), attempt.started
        folder.note_failure(reason, wall, kind=kind, attempt=attempt.token, started=began)


def interrupt(folder: RunFolder) -> None:
    """Write of the last attempt, whose process was ended, that this was asked for."""
    attempt = last(folder)
    if attempt and not attempt.status:
        keep(folder, attempt.model_copy(update={"status": "interrupted"}))


def set_aside(folder: RunFolder) -> list[Path]:
    """Rename endings that another attempt wrote than the last one; say what they are called now.

    They are late reports of a process that was given up: the last attempt has the run.
    """
    reads = {
        "result.json": folder.result,
        "divergence.json": folder.divergence,
        "failure.json": folder.failure,
    }
    # Before the attempt: what the next one writes, which may begin now, is no late report.
    endings = {name: read() for name, read in reads.items()}
    attempt, found = last(folder), []
    for name, ending in endings.items():
        if attempt and ending and ending.attempt not in ("", attempt.token):
            aside = folder.path / f"{name}.late-{ending.attempt}"
            with suppress(FileNotFoundError):  # another process was quicker
                (folder.path / name).rename(aside)
                found.append(aside)
    return found


def stand_in(folder: RunFolder, number: int, reason: str) -> None:
    """Write an attempt in the place of one whose file was damaged; what it has ended stays its."""
    endings = (folder.result, folder.divergence, folder.failure)
    tokens = (ending.attempt for read in endings if (ending := read()))
    attempt = Attempt(
        number=number,
        token=next(filter(None, tokens), token_hex(8)),
        host=platform.node(),
        pid=0,
        started=0.0,
        status="failed",
        kind="vanished",
        reason=reason,
    )
    keep(folder, attempt)


def _place(folder: RunFolder) -> Path:
    return folder.path / "attempts"


def _name(number: int) -> str:
    return f"{number:04}.json"


def _lost(folder: RunFolder, number: int) -> Path:
    return _place(folder) / f"{number:04}.lost"


def _text(attempt: Attempt) -> str:
    return attempt.model_dump_json(indent=2) + "\n"
