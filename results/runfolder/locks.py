"""The lock of a run folder, and which files are locked by what the system lists.

Whoever only wants to know does not try the lock: that could keep its owner out.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from results.runfolder.files import present

LISTED = Path("/proc/locks")


class AlreadyRunningError(Exception):
    """Another process works in this run folder."""


@contextmanager
def lock(folder: Path, patience: float = 0.0) -> Iterator[None]:
    """Keep other processes of this machine out of a folder; the lock ends with the process.

    Args:
        folder: It has the file `lock`, or gets it.
        patience: Seconds to wait for it.

    Raises:
        AlreadyRunningError: Another process has it.
        RunFolderError: Something else is in the place of the file.
    """
    present(folder / "lock")  # to open a FIFO would never return
    end = time.monotonic() + patience
    with (folder / "lock").open("w") as file:
        while not _taken(file):
            if time.monotonic() >= end:
                raise AlreadyRunningError(f"another process works in {folder}")
            time.sleep(0.01)
        yield


def _taken(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def held(folder: Path) -> frozenset[int] | None:
    """Give the inodes of the files that processes of this machine hold a `flock` on.

    A lock of our own on `folder` itself, which no worker locks, shows how the system lists the file
    system that it is on, and whether it lists it at all.

    Args:
        folder: The files are below it, on the same file system.

    Returns:
        Their inodes; None where the system does not tell.
    """
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
            own, lines = os.fstat(opened).st_ino, LISTED.read_text().splitlines()
        finally:
            os.close(opened)
    except OSError:
        return None
    found = {_place(line) for line in lines if " FLOCK " in line and "->" not in line}
    device = next((device for device, inode in found if inode == own), None)
    return frozenset(inode for one, inode in found if one == device) if device else None


def _place(line: str) -> tuple[str, int]:
    """Read device and inode of a listed lock.

    >>> _place("2: FLOCK  ADVISORY  WRITE 21564 fe:00:2671187 0 EOF")
    ('fe:00', 2671187)
    """
    device, _, inode = line.split()[5].rpartition(":")
    return device, int(inode)
