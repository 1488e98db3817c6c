"""Runs on this machine: a worker process per slot, over its GPUs or over shares of its cores."""

import sys
import threading
from collections.abc import Sequence

from harness.errors import UserError
from harness.scheduling.executors.contract import Job, Outcome, outcome_of
from harness.scheduling.process import Ended, Worker, WorkerProcess
from harness.scheduling.resources import Resources
from harness.scheduling.slots import Slot, visible_gpus
from harness.scheduling.threaded import ThreadedExecutor
from results.runfolder.folder import RunFolder

WORKER = (sys.executable, "-P", "-m", "harness.worker")


class LocalExecutor(ThreadedExecutor):
    """Gives each job, in the order of submission, the next free slot.

    A slot has a thread, and the thread has a worker process: it starts it with its first run and
    replaces it when it died. Other threads only interrupt or kill it.

    Args:
        slots: The slots; equal ones are shares of the same cores.
        command: What starts a worker that reads folders from standard input.
    """

    def __init__(self, slots: Sequence[Slot], command: Sequence[str] = WORKER) -> None:
        super().__init__()
        self._idle: list[Worker] = [WorkerProcess(command, slot.environment) for slot in slots]
        self._threads: list[threading.Thread] = []
        self._running: dict[Job, Worker] = {}

    def warm(self) -> None:
        """Start the worker of the first slot, which imports while the caller plans.

        One alone: on two cores, a second one would keep both of them from getting ready.
        """
        with self._changed:
            if not self._closed:
                self._idle[0].start()

    def _serve_more(self) -> None:
        if self._idle:
            thread = threading.Thread(target=self._serve, args=(self._idle.pop(0),), daemon=True)
            self._threads.append(thread)
            thread.start()

    def cancel(self, job: Job) -> None:
        """Take a job from those that wait, or kill the worker that runs it."""
        with self._changed:
            if self._states[job] == "waiting":
                self._drop(job)
            elif self._states[job] == "running":
                self._cancelled.add(job)
                self._running[job].kill()

    def interrupt(self) -> int:
        """Cancel what waits, and send SIGTERM to the workers that have a run."""
        with self._changed:
            self._stopping = True
            for job in [*self._waiting]:
                self.cancel(job)
            for worker in self._running.values():
                worker.interrupt()
            return len(self._running)

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
            self._break(fault)
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
                if going := not self._stopping and job not in self._cancelled:
                    worker.start()
            ended = worker.run(folder) if going else None
            cancelled = Outcome(folder, "cancelled")
            self._conclude(job, [_outcome(folder, ended) if ended else cancelled])

    def _conclude(self, job: Job, outcomes: Sequence[Outcome]) -> None:
        with self._changed:
            super()._conclude(job, outcomes)
            if self._states[job] == "ended":
                self._running.pop(job, None)


def _outcome(folder: RunFolder, ended: Ended) -> Outcome:
    return outcome_of(folder, ended.status, ended.printed, starved=ended.starved, gone=ended.away)


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
