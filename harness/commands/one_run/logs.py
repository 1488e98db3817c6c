"""`harness logs`: what a run printed, and what it prints."""

import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

from harness.commands.one_run import named
from harness.errors import UserError
from harness.printed import say
from results.runfolder import locks
from results.runfolder.folder import RunFolder
from results.runfolder.growing import Growing
from results.runfolder.state import How
from results.runfolder.survey import OVER, STOPPED, Attempt

LOOK = 0.5
"""Seconds between two looks at a log that is followed."""

GRACE = 15.0
"""Seconds after which a run that stopped is not started again by who decides on it."""


def logs(store_place: str, run: str, root: Path, lines: int) -> Iterator[str]:
    """Give the last lines that a run printed.

    Raises:
        UserError: There is no such run, or it has printed nothing.
    """
    folder = named.below(root, store_place, run)
    if _is_silent(folder):
        raise UserError(_silence(folder))
    growing = Growing(folder.log, lines)
    return chain(growing.new(), growing.rest())


def follow(store_place: str, run: str, root: Path, lines: int) -> Iterator[str]:
    """Give the last lines that a run printed, and each that it prints until it has ended.

    One that failed or was stopped is waited for, since the process that started it may go on.

    Raises:
        UserError: There is no such run.
    """
    folder = named.below(root, store_place, run)
    if _is_silent(folder):
        say(f"note: {_silence(folder)}", err=True)
    return followed(folder, lines)


def followed(
    folder: RunFolder, lines: int, pause: Callable[[float], None] = time.sleep
) -> Iterator[str]:
    """Give the lines of the log of a folder; `pause` waits for some seconds."""
    growing, attempt = Growing(folder.log, lines), Attempt(str(folder.path))
    waited, over = 0.0, False
    while not over:
        how = _how(attempt)
        waited = waited + LOOK if how in STOPPED else 0.0
        over = how in OVER or waited > GRACE
        # What it printed before it ended is there by now.
        yield from growing.new()
        if not over:
            pause(LOOK)
    yield from growing.rest()


def _is_silent(folder: RunFolder) -> bool:
    return not folder.log.is_file() or not folder.log.stat().st_size


def _silence(folder: RunFolder) -> str:
    return (
        f"{folder.head().run_id} has printed nothing: a log has warnings and errors alone.\n"
        "  `harness status` says how far runs are, and with which loss."
    )


def _how(attempt: Attempt) -> How:
    attempt.look(locks.held(attempt.folder.path.parent))
    return attempt.state.how
