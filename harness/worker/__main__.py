"""`python -P -m harness.worker [FOLDER]`: runs run folders, each in a process of its own.

Given a folder, it runs that one, prints to standard output and ends with its exit status. Without,
it imports what every run needs, then reads folders from standard input. For each it works out what
a later run may need too (`ahead.py`) and forks a process, so that a run starts in well under a
second; what the run prints goes to the folder's log.
For each it answers with one line: the exit status, or minus the signal that ended the run. On
SIGTERM it asks the run at work to stop, answers, and ends. When standard input is closed, since the
process that started it is gone, it ends the run at work and itself.
"""

import ctypes
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NoReturn

from harness.imports import many
from harness.spec.outcome import ELSEWHERE, FAILED, INTERRUPTED, UNWRITTEN
from harness.worker import stopping
from harness.worker.failing import kind_of, print_trace, reason_of
from harness.worker.parent import end_with_parent
from results.runfolder.claims import CancelledError, Claim, claimed
from results.runfolder.folder import AlreadyRunningError, RunFolder
from results.runfolder.values import FailureKind

PR_SET_CHILD_SUBREAPER = 36
STOP = {signal.SIGTERM}


def run(folder: RunFolder) -> int:
    """Claim a folder and run it until it ends, or SIGTERM asks to stop.

    Returns:
        The exit status.
    """
    stopping.heed()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP)
    try:
        with claimed(
            folder,
            leave=partial(os._exit, ELSEWHERE),
            stop=partial(os.kill, os.getpid(), signal.SIGTERM),
        ) as claim:
            return attempted(claim) if claim else 0
    except AlreadyRunningError:
        return ELSEWHERE
    except CancelledError:
        return INTERRUPTED
    except Exception as error:  # of the claim itself, such as a full disk
        return _failed(error, lambda reason, kind: folder.note_failure(reason, kind=kind))


def attempted(claim: Claim) -> int:
    """Run a folder; note why it failed if it does; return the exit status."""
    from harness.worker.attempt import execute  # noqa: PLC0415 (asked for after the imports)

    try:
        execute(claim)
    except AlreadyRunningError:
        raise
    except stopping.Interrupted:
        claim.end("interrupted")
        return INTERRUPTED
    except Exception as error:
        if claim.folder.ended:  # what comes after it, such as the model card, takes back no result
            with suppress(OSError):
                print_trace(error)
            return 0
        return _failed(error, claim.fail)
    return 0


def _failed(error: Exception, note: Callable[[str, FailureKind], None]) -> int:
    """Print and note why a run failed; return the exit status."""
    try:
        print_trace(error)
        note(reason_of(error), kind_of(error))
    except OSError:
        return UNWRITTEN
    return FAILED


def fork(folder: RunFolder) -> int:
    """Run a folder in a new process that prints to the folder's log; return its status."""
    # Whatever comes before the run heeds it waits until then.
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP)
    child = os.fork()
    if child == 0:
        _run_and_exit(folder)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP)
    told = False
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            _end_orphans()
            return os.waitstatus_to_exitcode(status)
        if _abandoned():
            os.kill(child, signal.SIGKILL)
        if stopping.asked() and not told:
            os.kill(child, signal.SIGTERM)
            told = True
        time.sleep(0.02)


def _run_and_exit(folder: RunFolder) -> NoReturn:
    end_with_parent()
    status = FAILED
    try:
        # A second hold on the pipe of the answers: where the worker is killed, its parent reads
        # their end only when the run has ended too.
        os.dup(sys.stdout.fileno())
        log = os.open(folder.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(log, sys.stdout.fileno())
        os.dup2(log, sys.stderr.fileno())
        status = run(folder)
    except BaseException as error:
        print_trace(error)
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError):  # the log may be on a full disk
                stream.flush()
        # Not sys.exit: the child must not run the worker's exit handlers.
        os._exit(status)


def _end_orphans() -> None:
    """End what a run started and left behind, such as a compiler."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    while children.exists() and (left := children.read_text().split()):
        for child in map(int, left):
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _abandoned() -> bool:
    """Whether nobody is left who could write to standard input."""
    poll = select.poll()
    poll.register(sys.stdin, select.POLLHUP)
    return any(event & select.POLLHUP for _, event in poll.poll(0))


def serve() -> None:
    """Run the folders that come in, one a line."""
    from harness.worker.ahead import prepare  # noqa: PLC0415 (as in `run`)

    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    for line in sys.stdin:
        if _abandoned():
            return
        stopping.heed()
        folder = RunFolder(Path(line.strip()))
        prepare(folder)
        status = INTERRUPTED if stopping.asked() else fork(folder)
        try:
            os.write(sys.stdout.fileno(), f"{status}\n".encode())
        except BrokenPipeError:  # the process that started this one was killed
            return
        if stopping.asked():
            return
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # with nothing at work it just ends


if __name__ == "__main__":
    with many():
        import harness.worker.ahead
        import harness.worker.attempt  # noqa: F401
    if len(sys.argv) > 1:
        sys.exit(run(RunFolder(Path(sys.argv[1]))))
    serve()
