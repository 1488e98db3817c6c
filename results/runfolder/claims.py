"""The claim of a process on a run: it alone is at work in the folder, and others see that it is.

On one machine the lock of the folder decides. Machines that share a file system see no locks of
each other, so a process at work raises the beat of its attempt, a counter. Who has seen the same
beat for `STALE` seconds of its own clock may give the attempt up; no two clocks are compared.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from results.runfolder import attempts, damage, wishes
from results.runfolder.attempts import Attempt, AttemptStatus
from results.runfolder.files import written
from results.runfolder.folder import AlreadyRunningError, RunFolder
from results.runfolder.values import FailureKind

BEAT = 5.0
"""Seconds between two beats."""

STALE = 60.0
"""Seconds of the same beat after which an attempt of another machine may be given up."""


class LostError(AlreadyRunningError):
    """The attempt was given up by others: its process writes nothing more."""


class CancelledError(Exception):
    """The user cancelled the run before it began."""


class Claim:
    """What the process at work does to its attempt. Any thread may call any method.

    Attributes:
        folder: Where the run is.
        measure: Gives the seconds by phase and the peak of memory, in bytes, of the attempt so far.
    """

    def __init__(self, folder: RunFolder, attempt: Attempt) -> None:
        self.folder = folder
        self.measure: Callable[[], tuple[Mapping[str, float], int]] = lambda: ({}, 0)
        self._attempt, self._began = attempt, time.monotonic()
        self._writing = threading.Lock()

    @property
    def token(self) -> str:
        """What the files that end the run say of who wrote them."""
        return self._attempt.token

    @property
    def seconds(self) -> float:
        """Seconds since the attempt began."""
        return time.monotonic() - self._began

    def confirm(self) -> None:
        """Make sure that the run is still ours; to be called before each file that ends something.

        Raises:
            LostError: It is not: leave, and write nothing more.
        """
        if attempts.is_lost(self.folder, self._attempt):
            raise LostError(f"attempt {self._attempt.number} in {self.folder.path} was given up")

    def beat(self) -> None:
        """Raise the beat, and write what the attempt has taken so far.

        Raises:
            LostError: The run is no longer ours.
        """
        self._keep(beat=self._attempt.beat + 1)

    def end(self, status: AttemptStatus, reason: str = "", kind: FailureKind | None = None) -> None:
        """Write how the attempt ended.

        Raises:
            LostError: The run is no longer ours.
        """
        self._keep(status=status, reason=reason, kind=kind)

    def fail(self, reason: str, kind: FailureKind) -> None:
        """Write why the attempt failed, for whoever reads the folder and into the attempt.

        Raises:
            LostError: The run is no longer ours.
        """
        self.confirm()
        reason = written(reason)
        began = self._attempt.started
        self.folder.note_failure(reason, self.seconds, kind=kind, attempt=self.token, started=began)
        self.end("failed", reason, kind)

    def _keep(self, **facts: object) -> None:
        seconds, memory = self.measure()
        facts |= {"seconds": {**seconds, "wall": self.seconds}, "peak_memory_bytes": memory}
        with self._writing:
            self.confirm()
            self._attempt = self._attempt.model_copy(update=facts)
            attempts.keep(self.folder, self._attempt)


def _go_on() -> None:
    """Stop nothing."""


@contextmanager
def claimed(
    folder: RunFolder, leave: Callable[[], None], stop: Callable[[], None] = _go_on
) -> Iterator[Claim | None]:
    """Keep other processes out of a folder, and start an attempt there; None if the run has ended.

    Args:
        folder: Of the run.
        leave: Ends the process; called by another thread where the run is no longer ours.
        stop: Lets the run stop; called by another thread where the user cancelled it.

    Raises:
        AlreadyRunningError: Another process is at work in it, or may be.
        CancelledError: The user cancelled the run before it began.
    """
    with folder.locked():
        for sentence in damage.mend_ending(folder):
            print(sentence, flush=True)  # into the log
        attempts.set_aside(folder)
        if folder.ended:
            yield None
            return
        if wishes.is_cancelled(folder):
            raise CancelledError(f"the run in {folder.path} was cancelled")
        claim = Claim(folder, _begun(folder))
        ended = threading.Event()
        watch = partial(_beat, claim, ended, leave, stop)
        beating = threading.Thread(target=watch, daemon=True)
        beating.start()
        try:
            folder.drop_failure()
            yield claim
        finally:
            ended.set()
            beating.join()


def _begun(folder: RunFolder) -> Attempt:
    begun = attempts.begin(folder)
    if begun is None:
        raise AlreadyRunningError(f"a process of another machine works in {folder.path}")
    return begun


def _beat(
    claim: Claim, ended: threading.Event, leave: Callable[[], None], stop: Callable[[], None]
) -> None:
    asked = False
    while not ended.wait(BEAT):
        try:
            claim.beat()
            if not asked and wishes.is_cancelled(claim.folder):
                asked = True
                stop()
        except LostError:
            leave()
        except OSError:
            continue  # a full disk, or a file system that is away: the next beat may be written
