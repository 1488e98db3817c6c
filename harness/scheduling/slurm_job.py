"""A job of Slurm: what it does on its node, and what Slurm says of it where it was submitted."""

import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.spec.outcome import INTERRUPTED
from results.runfolder.folder import RunFolder

ANSWERED = 30.0
"""Seconds in which Slurm answers, or is away."""

SAID = 10_000
"""The last bytes that are kept of what was said of a job."""


@dataclass
class Task:
    """What a task of an array does on its node: the runs of a job, one after the other.

    Args:
        command: What runs the folder that it is given.
        folders: Of the runs.
        environment: Variables that it gets besides those of the job.
    """

    command: tuple[str, ...]
    folders: tuple[str, ...]
    environment: Mapping[str, str]
    process: int = field(default=0, init=False)

    def __call__(self) -> None:
        """Run the folders, up to one that was asked to stop."""
        for path in self.folders:
            folder = RunFolder(Path(path))
            _note(folder, None)  # not what an earlier start of a job left that is queued again
            status = self._run(folder)
            _note(folder, status)
            if status == INTERRUPTED:
                break

    def checkpoint(self) -> Any:
        """Stop the run at work; submitit calls this before Slurm ends the job, and queues it again.

        A signal handler calls it while `_run` waits for the process, so it leaves that to be read.
        """
        if self.process:
            os.kill(self.process, signal.SIGTERM)
            os.waitid(os.P_PID, self.process, os.WEXITED | os.WNOWAIT)
        import submitit  # noqa: PLC0415 (an extra)

        return submitit.helpers.DelayedSubmission(
            Task(self.command, self.folders, self.environment)
        )

    def _run(self, folder: RunFolder) -> int:
        with folder.log.open("ab") as log:
            command = [*self.command, os.fspath(folder.path)]
            started = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                env={**os.environ, **self.environment},
                preexec_fn=_deaf,  # noqa: PLW1509 (there is no other thread here)
            )
        self.process = started.pid
        _, status = os.waitpid(self.process, 0)
        self.process = 0
        return os.waitstatus_to_exitcode(status)


def _note(folder: RunFolder, status: int | None) -> None:
    if job := folder.cluster_job():
        folder.write_cluster_job(job.model_copy(update={"exit_status": status}))


def _deaf() -> None:
    """Ignore, from now on, the signals before the end of a job: Slurm sends them to all processes.

    They are for submitit, which then calls `Task.checkpoint`.
    """
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, signal.SIG_IGN)


class NoAnswerError(Exception):
    """Slurm did not answer, or not with what was asked for; it may the next time."""


def states() -> dict[str, str]:
    """Ask Slurm for the user's jobs and their states.

    Raises:
        NoAnswerError: It does not answer.
    """
    asked = _ask("squeue", "--me", "--array", "--noheader", "--format=%i %T")
    if asked.returncode:
        raise NoAnswerError(asked.stderr.strip())
    return dict(line.split() for line in asked.stdout.splitlines())


def end(name: str) -> None:
    """Let Slurm end a job: it asks the run to stop, and kills it some seconds later."""
    with suppress(NoAnswerError):
        _ask("scancel", name)


def last_state(name: str) -> str:
    """Ask Slurm, which forgets in some minutes, how a job ended.

    Raises:
        NoAnswerError: It does not answer.
    """
    asked = _ask("scontrol", "--oneliner", "show", "job", name)
    facts = dict(fact.partition("=")[::2] for fact in asked.stdout.split())
    return facts.get("JobState", "it no longer knows why")


def said(notes: Path, name: str) -> str:
    """Read the end of what Slurm, and submitit on the node, said of a job.

    Args:
        notes: The folder in which submitit keeps what it submits.
        name: What Slurm calls the job.
    """
    from submitit.core.utils import JobPaths  # noqa: PLC0415 (an extra)

    path: Path = JobPaths(notes, name, 0).stderr
    try:
        return path.read_bytes()[-SAID:].decode(errors="replace")
    except FileNotFoundError:  # it had not started
        return ""


def last_error(text: str) -> str:
    r"""Find the last line that tells of an error; empty if there is none.

    >>> last_error("srun: error: node7: task 0: Killed\nsrun: Force Terminated StepId=1.0\n")
    'srun: error: node7: task 0: Killed'
    """
    lines = reversed(text.splitlines())
    return next((line for line in lines if "error:" in line.lower()), "")


def _ask(*command: str) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(
            command, capture_output=True, text=True, check=False, timeout=ANSWERED
        )
    except subprocess.TimeoutExpired as error:
        raise NoAnswerError(str(error)) from error
