"""Runs on this machine: a worker process per slot, over its GPUs or over shares of its cores."""

import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence

from harness.errors import UserError
from harness.scheduling.executors.contract import (
    ClosedError,
    Executor,
    Job,
    Outcome,
    State,
    outcome_of,
)
from harness.scheduling.process import Ended, Worker, WorkerProcess
from harness.scheduling.resources import Resources
from harness.scheduling.slots import Slot, visible_gpus
from results.runfolder.folder import RunFolder

WORKER = (sys.executable, "-P", "-m", "harness.worker")


class LocalExecutor(Executor):
    """Gives each job, in the order of submission, the next free slot.

    A slot has a thread, and the thread has a worker process: it starts it with its first run and
    replaces it when it died. Other threads only kill it.

    Args:
        slots: The slots; equal ones are shares of the same cores.
        command: What starts a worker that reads folders from standard input.
    """

    def __init__(self, slots: Sequence[Slot], command: Sequence[str] = WORKER) -> None:
        self._idle: list[Worker] = [WorkerProcess(command, slot.environment) for slot in slots]
        self._threads: list[threading.Thread] = []
        self._changed = threading.Condition()  # guards what follows
        self._closed = False
        self._interrupted = False
        self._fault: Exception | None = None
        self._waiting: deque[Job] = deque()
        self._running: dict[Job, Worker] = {}
        self._cancelled: set[Job] = set()
        self._states: dict[Job, State] = {}
        self._left: dict[Job, int] = {}  # runs that have no outcome yet
        self._unread: deque[Outcome] = deque()

    def warm(self) -> None:
        """Start the worker of the first slot, which imports while the caller plans.

        One alone: on two cores, a second one would keep both of them from getting ready.
        """
        with self._changed:
            if not self._closed:
                self._idle[0].start()

    def submit(self, job: Job) -> None:
        """Put a job behind those that wait; the first ones start a thread each."""
        with self._changed:
            if self._closed:
                raise ClosedError
            self._waiting.append(job)
            self._states[job], self._left[job] = "waiting", len(job.folders)
            if self._interrupted:
                self.cancel(job)
            elif self._idle:
                thread = threading.Thread(
                    target=self._serve, args=(self._idle.pop(0),), daemon=True
                )
                self._threads.append(thread)
                thread.start()
            self._changed.notify_all()

    def outcomes(self) -> Iterator[Outcome]:
        """Yield outcomes as runs end."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._unread or self._fault or not self._left)
                if not self._unread:
                    break
                outcome = self._unread.popleft()
            yield outcome
        if self._fault:
            raise self._fault

    def cancel(self, job: Job) -> None:
        """Take a job from those that wait, or kill the worker that runs it."""
        with self._changed:
            if self._states[job] == "waiting":
                self._waiting.remove(job)
                self._add(job, *(Outcome(folder, "cancelled") for folder in job.folders))
            elif self._states[job] == "running":
                self._cancelled.add(job)
                self._running[job].kill()

    def interrupt(self) -> int:
        """Cancel what waits, and send SIGTERM to the workers that have a run."""
        with self._changed:
            self._interrupted = True
            for job in [*self._waiting]:
                self.cancel(job)
            for worker in self._running.values():
                worker.interrupt()
            return len(self._running)

    def state(self, job: Job) -> State:
        """Say how far a job is."""
        with self._changed:
            return self._states[job]

    def close(self) -> None:
        """Cancel what has not ended, end the workers and wait for them."""
        with self._changed:
            self._closed = True
            for job in [*self._waiting, *self._running]:
                self.cancel(job)
            self._changed.notify_all()
        for worker in self._idle:
            worker.end()
        for thread in self._threads:
            thread.join()

    def _serve(self, worker: Worker) -> None:
        """Run one job after the other in a worker, until the executor is closed."""
        try:
            while job := self._take(worker):
                self._run(job, worker)
        except Exception as fault:  # of ours: `outcomes` raises it
            with self._changed:
                self._fault = fault
                self._changed.notify_all()
        finally:
            worker.end()

    def _take(self, worker: Worker) -> Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            if self._closed:
                return None
            job = self._waiting.popleft()
            self._states[job], self._running[job] = "running", worker
            return job

    def _run(self, job: Job, worker: Worker) -> None:
        """Run the runs of a job; where it is cancelled, give those that are left that outcome."""
        for folder in job.folders:
            with self._changed:
                # Under the lock, so that none starts while it is cancelled.
                if going := not self._interrupted and job not in self._cancelled:
                    worker.start()
            ended = worker.run(folder) if going else None
            cancelled = Outcome(folder, "cancelled")
            self._add(job, _outcome(folder, ended) if ended else cancelled)

    def _add(self, job: Job, *outcomes: Outcome) -> None:
        with self._changed:
            self._unread += outcomes
            self._left[job] -= len(outcomes)
            if not self._left[job]:
                del self._left[job]
                self._running.pop(job, None)
                self._states[job] = "ended"
            self._changed.notify_all()


def _outcome(folder: RunFolder, ended: Ended) -> Outcome:
    return outcome_of(folder, ended.status, ended.printed, starved=ended.starved)


def executor(resources: Resources) -> LocalExecutor:
    """Build it over the slots of this machine.

    Raises:
        UserError: Runs are planned for GPUs, and there is none, or too few.
    """
    if resources.device == "gpu" and not visible_gpus():
        raise UserError(
            "The runs are for a GPU, and torch sees none on this machine: plan without --device, "
            "or run them by --executor ray or slurm."
        )
    return LocalExecutor(resources.here())
