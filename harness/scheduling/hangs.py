"""Runs that hang: one that has told nothing new for long is ended alone, and has failed."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.scheduling.executors.contract import Executor, Job, Outcome, State, failed
from results.reports.times import duration
from results.runfolder.folder import RunFolder

LOOKS = 100
"""How often a run is looked at before it counts as hung, but for long limits."""

MOST_SECONDS = 5.0
"""Between two looks."""


@dataclass
class Look:
    """How much a job has told so far, in bytes, and how many looks ago it last told something."""

    told: int = 0
    quiet: int = 0


class WithoutHangs(Executor):
    """Another executor, whose runs end when their events and logs do not grow for long.

    Looks are counted, not seconds: where this machine sleeps, nothing has hung.

    Args:
        executor: Runs the jobs. It is closed with this one.
        limit: The seconds.
    """

    def __init__(self, executor: Executor, limit: float) -> None:
        self._executor, self._limit = executor, limit
        self._every = min(MOST_SECONDS, limit / LOOKS)
        self._lock = threading.Lock()
        self._looks: dict[Job, Look] = {}
        self._hung: set[Job] = set()
        self._left = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def warm(self) -> None:
        """Get ready for a first job."""
        self._executor.warm()

    def submit(self, job: Job) -> None:
        """Put a job behind those that wait, and watch it."""
        self._executor.submit(job)
        with self._lock:
            self._looks[job] = Look()

    def outcomes(self) -> Iterator[Outcome]:
        """Yield outcomes; a run that hung has failed."""
        for outcome in self._executor.outcomes():
            hung = [job for job in self._hung if outcome.folder in job.folders]
            if hung and outcome.status == "cancelled":
                self._hung -= {*hung}  # the runs behind it did not start
                outcome = self._failed(outcome.folder)  # noqa: PLW2901
            yield outcome

    def cancel(self, job: Job) -> None:
        """End a job."""
        self._executor.cancel(job)

    def interrupt(self) -> int:
        """Ask every run at work to stop."""
        return self._executor.interrupt()

    def detach(self) -> bool:
        """Let go of runs that need this process no longer."""
        return self._executor.detach()

    def state(self, job: Job) -> State:
        """Say how far a job is."""
        return self._executor.state(job)

    def close(self) -> None:
        """Cancel what has not ended."""
        self._left.set()
        self._executor.close()

    def _watch(self) -> None:
        while not self._left.wait(self._every):
            with self._lock:
                looks = [*self._looks.items()]
            for job, look in looks:
                self._look(job, look)

    def _look(self, job: Job, look: Look) -> None:
        """See what a job has told since the last look; end it if that is nothing for too long."""
        state = self._executor.state(job)
        if state == "ended":
            with self._lock:
                del self._looks[job]
        if state != "running":
            return
        told = sum(map(_told, job.folders))
        look.quiet = look.quiet + 1 if told == look.told else 0
        look.told = told
        if look.quiet * self._every >= self._limit:
            self._hung.add(job)
            self._executor.cancel(job)

    def _failed(self, folder: RunFolder) -> Outcome:
        said = folder.end_of_log(1)
        log = f"; the last line of its log is: {said}" if said else ""
        why = f"It hung: nothing new for {duration(self._limit)} (--stall){log}"
        return failed(folder, why, "stalled")


def _told(folder: RunFolder) -> int:
    return _size(folder.events) + _size(folder.log)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # not there yet, or away with its disk
        return 0
