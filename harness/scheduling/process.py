"""A worker process as its parent sees it: run folders go in, exit statuses come out."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress

from results.runfolder.folder import RunFolder


class WorkerProcess:
    """The worker of one slot, replaced when it died. One thread calls all methods but `kill`.

    Args:
        command: What starts a worker that reads folders from standard input.
        environment: Variables that it gets besides those of this process.
    """

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._command, self._environment = command, environment
        self._process: subprocess.Popen[str] | None = None
        self._killed = self._interrupted = False

    def start(self) -> None:
        """Start a worker, unless there is one."""
        if self._process and not self._killed and self._process.poll() is None:
            return
        self.end()
        self._killed = self._interrupted = False
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **self._environment},
            # Ctrl-C reaches the parent alone, which then ends the workers. And the worker with
            # all that its run starts is a group that one signal ends.
            start_new_session=True,
        )

    def run(self, folder: RunFolder) -> int | None:
        """Let the worker run a folder.

        Returns:
            The exit status of the run; that of the worker if it died; None if it was killed here.
        """
        process = self._process
        assert process
        assert process.stdin
        assert process.stdout
        with suppress(BrokenPipeError):
            process.stdin.write(f"{folder.path}\n")
            process.stdin.flush()
        answer = process.stdout.readline()
        if answer:
            return int(answer)
        # The run keeps the pipe open too, so both have ended.
        status = process.wait()
        return None if self._killed or self._interrupted else status

    def interrupt(self) -> None:
        """Ask the worker to end after the run at work in it, which stops too; from any thread."""
        if self._process:
            self._interrupted = True
            with suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGTERM)
                # One that was stopped could do nothing of the kind.
                os.killpg(self._process.pid, signal.SIGCONT)

    def kill(self) -> None:
        """End the worker and the run at work in it, from any thread."""
        if self._process:
            self._killed = True
            # Not SIGTERM, which a run may handle. Files are whole or not there, so nothing is lost.
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

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
