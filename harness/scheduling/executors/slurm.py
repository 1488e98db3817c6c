"""Runs as the tasks of Slurm job arrays, submitted through submitit, on a shared disk.

Slurm owns the runs: the command that submitted them may end, and the same command follows them
again, since each run folder names its job. A job that comes to its time limit asks its run to stop
and queues itself again. One that is preempted is queued again by Slurm, or is submitted again from
here. Either way the run goes on from its checkpoint. `scancel` cancels a run.

submitit pickles what a job is to do: whoever can write into its folder runs code as the user.
"""

import os
import shutil
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, NoReturn

import submitit
from submitit.core.utils import FailedJobError

from harness.errors import UserError
from harness.scheduling.executors.contract import Job, Outcome, failed, outcome_of
from harness.scheduling.executors.local import WORKER
from harness.scheduling.resources import Resources
from harness.scheduling.slots import Slot
from harness.scheduling.slurm_job import (
    NoAnswerError,
    Task,
    end,
    last_error,
    last_state,
    said,
    states,
)
from harness.scheduling.threaded import ThreadedExecutor
from harness.spec.outcome import FAILED, INTERRUPTED
from results.runfolder import attempts, wishes
from results.runfolder.folder import RunFolder
from results.runfolder.values import ClusterJob, FailureKind

SECONDS = 2.0
"""Between two questions to Slurm."""

WAITING = {"PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "CONFIGURING"}
"""What Slurm calls a job that has not started, or is to start again."""

PAUSE = 60.0
"""Seconds until Slurm, which refused jobs, is asked again."""

PATIENCE = 10
"""So often may it refuse them, after it took others and none of those is left."""

HOURS = 4
"""Of a job, if the user does not say. A short one starts sooner, and what it cuts goes on."""

RESTARTS = 10_000
"""So often may a run be cut by the time limit of its job."""

NOTES = ".slurm"
"""The folder beside the run folders in which submitit keeps what it submits."""


class SlurmExecutor(ThreadedExecutor):
    """Submits jobs as arrays, and follows them in Slurm's queue.

    Args:
        slots: As many runs at a time, at most, all alike.
        command: What runs the folder that it is given.
        options: Of submitit, such as `partition`, `account`, `gpus_per_node`, `time` in minutes; a
            core for each thread unless they say more.
        most: Whether Slurm is to run no more at a time than there are slots.
    """

    def __init__(
        self,
        slots: Sequence[Slot],
        command: Sequence[str] = WORKER,
        options: Mapping[str, Any] | None = None,
        *,
        most: bool = True,
    ) -> None:
        super().__init__()
        self._command, self._most = tuple(command), len(slots) if most else None
        self._environment = slots[0].environment
        self._options = {"cpus_per_task": slots[0].threads, **(options or {})}
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._asking = threading.Lock()  # from a question to Slurm until its answer is acted on
        self._queued: dict[Job, str] = {}  # what Slurm calls each
        self._patience, self._again = 0, 0.0  # the time from which jobs may be submitted

    def _serve_more(self) -> None:
        if self._thread.ident is None:  # not started yet
            self._thread.start()

    def cancel(self, job: Job) -> None:
        """Take a job from those that wait here, or from Slurm, which asks its run to stop."""
        with self._changed:
            if self._states[job] == "ended" or job in self._cancelled:
                return
            self._cancelled.add(job)
            if job in self._waiting:
                self._drop(job)
            elif job in self._queued:
                end(self._queued[job])

    def interrupt(self) -> int:
        """Cancel what waits, and let Slurm ask the others to stop."""
        with suppress(NoAnswerError):
            self._look()  # a run may have started since the last time
        with self._changed:
            self._stopping = True
            running = [job for job, state in self._states.items() if state == "running"]
            for job in [*self._waiting, *self._queued]:
                self.cancel(job)
            return len(running)

    def detach(self) -> bool:
        """Leave all runs to Slurm, once it has them."""
        with suppress(UserError, NoAnswerError):  # the same command tells it again
            self._hand_over()
        return True

    def close(self) -> None:
        """Cancel what has not ended, and wait until Slurm has ended it."""
        with self._changed:
            self._closed = True
            for job in [*self._waiting, *self._queued]:
                self.cancel(job)
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join()

    def _serve(self) -> None:
        """Submit what waits and ask Slurm how far it is, until the executor is closed."""
        try:
            while self._goes_on():
                for step in (self._hand_over, self._look):
                    with suppress(NoAnswerError):
                        step()
        except Exception as fault:  # of ours: `outcomes` raises it
            self._break(fault)

    def _goes_on(self) -> bool:
        with self._changed:
            if not self._closed:
                self._changed.wait_for(lambda: self._closed, SECONDS)
            return bool(self._queued) or not self._closed

    @contextmanager
    def _asked(self) -> Iterator[Mapping[str, str]]:
        """Ask Slurm for the states of all jobs; no other thread asks until that is acted on."""
        with self._asking:
            found = states()
            with self._changed:
                yield found

    def _hand_over(self) -> None:
        """Submit the jobs that there is room for, as one array; follow those that are there."""
        with self._asked() as queue:
            for job in [*self._waiting]:
                known = job.folders[0].cluster_job()
                if known and known.name in queue:
                    self._waiting.remove(job)
                    self._queued[job] = known.name
            jobs = [*islice(self._waiting, self._room())]
            for job, name in zip(jobs, self._submit(jobs), strict=True):
                self._waiting.remove(job)
                self._queued[job] = name
                for folder in job.folders:
                    folder.write_cluster_job(ClusterJob(name=name))

    def _room(self) -> int:
        """Count the jobs to submit now: all at first; later ones as others leave their slots."""
        if time.monotonic() < self._again:
            return 0
        if not self._most or not self._queued:
            return len(self._waiting)
        return min(len(self._waiting), max(0, self._most - len(self._queued)))

    def _submit(self, jobs: Sequence[Job]) -> list[str]:
        """Submit jobs as one array; return what Slurm calls them.

        Raises:
            NoAnswerError: Slurm refuses them now, and may take them later as it took others.
            UserError: It refuses them.
        """
        if not jobs:
            return []
        notes = jobs[0].folders[0].path.parent / NOTES
        slurm = submitit.SlurmExecutor(notes, max_num_timeout=RESTARTS)
        given = {name: value for name, value in self._options.items() if value is not None}
        most = {"array_parallelism": self._most} if self._most else {}
        slurm.update_parameters(job_name="harness", **most, **given)
        tasks = [
            Task(
                self._command,
                tuple(os.fspath(folder.path) for folder in job.folders),
                self._environment,
            )
            for job in jobs
        ]
        try:
            with slurm.batch():
                submitted = [slurm.submit(task) for task in tasks]
        except FailedJobError as error:
            self._bear(f"Slurm refused the jobs: {str(error).strip()}")
        self._patience = PATIENCE
        return [job.job_id for job in submitted]

    def _bear(self, refusal: str) -> NoReturn:
        """Wait after a refusal, such as one by a limit, while that may be of use."""
        if not self._queued:
            self._patience -= 1
        if self._patience < 0:
            raise UserError(refusal)
        self._again = time.monotonic() + PAUSE
        raise NoAnswerError(refusal)

    def _look(self) -> None:
        """Learn which jobs have started, and which have left the queue."""
        with self._asked() as queue:
            for job, name in [*self._queued.items()]:
                if name not in queue:
                    over = all(folder.ended for folder in job.folders)
                    self._left_queue(job, name, "" if over else last_state(name))
                elif queue[name] not in WAITING:
                    self._states[job] = "running"

    def _left_queue(self, job: Job, name: str, state: str) -> None:
        """Conclude from what a job left, and what Slurm says of it, how its runs ended."""
        del self._queued[job]
        known = job.folders[0].cluster_job()
        if known and known.name != name:  # another command has given this one up, and went on
            self._conclude(job, [Outcome(folder, "elsewhere") for folder in job.folders])
            return
        if state == "CANCELLED" and job not in self._cancelled:  # by `scancel`
            self._cancelled.add(job)
            for folder in job.folders:
                if not folder.ended:
                    wishes.cancel(folder)
        if job not in self._cancelled and any(map(_is_cut, job.folders)):
            self._waiting.appendleft(job)
        else:
            self._conclude(job, [self._outcome(job, one, name, state) for one in job.folders])

    def _outcome(self, job: Job, folder: RunFolder, name: str, state: str) -> Outcome:
        if job in self._cancelled and not folder.ended:
            attempts.interrupt(folder)
            return Outcome(folder, "cancelled")
        starved, status = state == "OUT_OF_MEMORY", _exit_status(folder)
        if status is not None:
            return outcome_of(folder, status, starved=starved and status < 0, gone=True)
        if folder.ended:
            return outcome_of(folder, FAILED)
        kind: FailureKind = "memory" if starved else "vanished"
        told = said(folder.path.parent / NOTES, name)
        with folder.log.open("a") as log:
            log.write(told)
        why = f"{state} ({error})" if (error := last_error(told)) else state
        return failed(folder, f"Slurm ended job {name}: {why}", kind, gone=True)


def _exit_status(folder: RunFolder) -> int | None:
    job = folder.cluster_job()
    return job.exit_status if job else None


def _is_cut(folder: RunFolder) -> bool:
    """Whether a run was asked to stop, and neither from here nor by its user."""
    stopped = _exit_status(folder) == INTERRUPTED and not folder.ended
    return stopped and not wishes.is_cancelled(folder)


def executor(
    resources: Resources,
    partition: str | None = None,
    account: str | None = None,
    time: int = HOURS * 60,
) -> SlurmExecutor:
    """Build it; what is not said here, Slurm takes from its own variables, such as SBATCH_QOS.

    Args:
        resources: What a run takes; without `slots`, Slurm alone says how many go at a time.
        partition: Where jobs run.
        account: Whose time they take.
        time: The limit of a job, in minutes.

    Raises:
        UserError: There is no Slurm on this machine, or runs are to share a GPU.
    """
    if not shutil.which("sbatch"):
        raise UserError(
            "--executor slurm: there is no `sbatch` on this machine; run the command where jobs "
            "are submitted."
        )
    if resources.per_gpu > 1:
        raise UserError("--per-gpu: Slurm gives each job GPUs of its own.")
    slot = resources.on_a_node()
    options = {
        "partition": partition,
        "account": account,
        "time": time,
        "cpus_per_task": resources.cpus_per_run or slot.threads,
        "gpus_per_node": resources.gpus_per_run if resources.gpu else None,
    }
    slots = [slot] * (resources.slots or 1)
    return SlurmExecutor(slots, WORKER, options, most=resources.slots is not None)
