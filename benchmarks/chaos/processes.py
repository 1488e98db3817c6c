"""Processes as the system lists them: who started whom, and which are there."""

import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def children(pid: int) -> list[int]:
    """List the processes that a process, or a thread of it, has started and that have not ended."""
    found = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(OSError):  # the thread ended
            found += [int(one) for one in listed.read_text().split()]
    return [one for one in found if is_alive(one)]


def family(pid: int) -> list[int]:
    """List a process and all below it, the oldest first."""
    return [pid, *(one for child in children(pid) for one in family(child))]


def is_alive(pid: int) -> bool:
    """Whether there is a process that has not ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def kill(pid: int) -> bool:
    """Send SIGKILL to a process; say whether it was there."""
    if not is_alive(pid):
        return False
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False


def left(pids: Iterable[int], seconds: float = 30.0) -> list[int]:
    """Wait until all of some processes have ended; list those that have not."""
    end = time.monotonic() + seconds
    while (found := [one for one in pids if is_alive(one)]) and time.monotonic() < end:
        time.sleep(0.05)
    return found
