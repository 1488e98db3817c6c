"""A worker process as its parent sees it: run folders go in, exit statuses come out."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Protocol

from harness.scheduling.oom import oom_kills
from results.runfolder.folder import RunFolder

STARTS = 2
"""So many workers in a row may break before they have run anything; then no other is started."""

PRINTED = 20_000
"""The last bytes that are kept of what a broken worker printed."""


@dataclass(frozen=True)
class Ended:
    """How a run ended, or the worker in its place.

    Attributes:
        status: The exit status, or minus the signal.
        starved: Whether the kernel ended it for want of memory.
        printed: The end of what a worker printed that broke.
        away: Whether that was on another machine.
    """

    status: int
    starved: bool = False
    printed: str = ""
    away: bool = False


class Worker(Protocol):
    """The worker of one slot as its executor sees it, on whichever machine it is."""

    def start(self) -> None:
        """Start it, unless it is there."""

    def run(self, folder: RunFolder) -> Ended | None:
        """Let it run a folder; return how the run ended, or None if it was ended from here."""

    def interrupt(self) -> None:
        """Ask it to end after the run at work in it, which stops too; from any thread."""

    def kill(self) -> None:
        """End it and the run at work in it, from any thread."""

    def end(self) -> None:
        """End it, and leave nothing behind."""


class WorkerProcess:
    """The worker of one slot, replaced when it died.

    One thread calls its methods; others may call `interrupt` and `kill` meanwhile.

    Args:
        command: What starts a worker that reads folders from standard input.
        environment: Variables that it gets besides those of this process.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._command, self._environment = command, environment
        self._process: subprocess.Popen[str] | None = None
        self._printed: IO[bytes] | None = None
        self._killed = self._interrupted = False
        self._broken: list[Ended] = []  # the last workers, without one that ran something

    def start(self) -> None:
        """Start a worker, unless there is one, or the last ones broke."""
        if self._process and not self._killed and self._process.poll() is None:
            return
        self.end()
        if len(self._broken) == STARTS:
            return
        self._killed = self._interrupted = False
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115 (`end` closes it)
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._printed,
            text=True,
            env={**os.environ, **self._environment},
            # Ctrl-C reaches the parent alone, which then ends the workers. And the worker with
            # all that its run starts is a group that one signal ends.
            start_new_session=True,
        )

    def run(self, folder: RunFolder) -> Ended | None:
        """Let the worker run a folder.

        Returns:
            How the run ended, or the worker if it died; None if it was ended from here.
        """
        process, killed = self._process, oom_kills()
        if process is None:
            return self._broken[-1]
        assert process.stdin
        assert process.stdout
        with suppress(BrokenPipeError):
            process.stdin.write(f"{folder.path}\n")
            process.stdin.flush()
        answer = process.stdout.readline()
        # Without an answer both have ended, since the run keeps the pipe open too.
        status = int(answer) if answer else process.wait()
        starved = status == -signal.SIGKILL and oom_kills() > killed
        if answer:
            self._broken.clear()
            return Ended(status, starved)
        asked, ended = self._killed or self._interrupted, Ended(status, starved, self._last_words())
        self.end()  # now: once its group is empty, another may get the same number
        if asked:
            return None
        if status >= 0:
            self._broken.append(ended)
        return ended

    def _last_words(self) -> str:
        assert self._printed
        size = self._printed.seek(0, os.SEEK_END)
        self._printed.seek(max(0, size - PRINTED))
        return self._printed.read().decode(errors="replace")

    def interrupt(self) -> None:
        """Ask the worker to end after the run at work in it, which stops too; from any thread."""
        if process := self._process:
            self._interrupted = True
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGTERM)
                # One that was stopped could do nothing of the kind.
                os.killpg(process.pid, signal.SIGCONT)

    def kill(self) -> None:
        """End the worker and the run at work in it, from any thread."""
        if process := self._process:
            self._killed = True
            # Not SIGTERM, which a run may handle. Files are whole or not there, so nothing is lost.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    def end(self) -> None:
        """End the worker, if there is one, and leave no pipe open."""
        self.kill()
        if process := self._process:
            process.wait()
            for pipe in (process.stdin, process.stdout):
                assert pipe
                with suppress(BrokenPipeError):
                    pipe.close()
        self._process = None
        if self._printed:
            self._printed.close()
