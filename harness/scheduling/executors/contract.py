"""The contract of an executor: jobs go in, the outcomes of their runs come out."""

import signal
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Literal, Self

from harness.spec.outcome import ELSEWHERE, INTERRUPTED, UNWRITTEN, Status
from results.runfolder.attempts import close
from results.runfolder.folder import AlreadyRunningError, RunFolder
from results.runfolder.values import FailureKind

State = Literal["waiting", "running", "ended"]


@dataclass(frozen=True, eq=False)
class Job:
    """Runs that run one after the other, in this order, on one slot.

    A job is equal to itself alone, so the same folders can be submitted again as another job.
    """

    folders: tuple[RunFolder, ...]


@dataclass(frozen=True)
class Outcome:
    """How one run of a job ended."""

    folder: RunFolder
    status: Status


class ClosedError(Exception):
    """A job was submitted to an executor that was closed."""


class Executor(ABC):
    """Runs jobs in worker processes, as many at a time as it has slots.

    **Who does what.** The caller creates the run folders, submits jobs, reads outcomes and writes
    the store. The executor starts a worker per run or per slot, in the environment of the slot,
    and waits for it. The worker writes into the run folder and nowhere else. An executor never
    opens the store, and gives a worker no more than the path of a folder, so that workers can run
    on any machine that sees the files.

    **Where it comes from.** A module or an entry point offers a callable as `executor`, which takes
    `Resources` and, by name, those options of the command line that it knows: `address`,
    `partition`, `account`, `time` (minutes). It raises `UserError` where it cannot run.

    **Before the first job.** An executor is made, and may be warmed up, before its caller knows
    what is to run; it is closed without a job where there is nothing.

    **Order.** Jobs start in the order of submission, each on the next free slot. Outcomes come
    as runs end.

    **Failure.** A failed run is a value: it never ends the other runs, not even those behind it
    in its own job. Whatever ended it (an exception, an exit status, a signal, the death of the
    machine that it ran on), its folder holds a failure record with the reason before its outcome
    is given; `outcome_of` writes one where the worker could not. A run is finished if, and only
    if, its result file is there, and diverged if that of a divergence is. A run whose folder
    another process holds is `elsewhere`, and its folder is left alone. Only an error of the
    executor itself, such as a full disk, is raised, by `outcomes`.

    **The end of a run.** When an outcome is given, no process of that attempt is left: the lock
    of its folder is free, and the caller may submit the folder again in another job.

    **Stopping.** SIGTERM asks the process of a run to stop where it can be continued. It then ends
    with the status `INTERRUPTED` and is `cancelled`; another attempt goes on from what it kept.

    **Threads.** One thread reads `outcomes`; any thread may call the other methods meanwhile,
    and none of them waits for a run, `close` aside.

    **Crash.** An executor keeps nothing that must survive it. If the process that owns it is
    killed, its runs end too, or they go on and are `elsewhere` to the next executor; what
    finished has its result file. Submitting the same folders again continues the work.

    `executors/conformance` holds an executor to this contract.
    """

    def warm(self) -> None:  # noqa: B027 (an executor may have nothing to get ready)
        """Get ready for a first job, which may never come; no effect unless it is overridden.

        Called before the first `submit`, if at all. What it starts counts among the slots, and
        `close` ends it.
        """

    @abstractmethod
    def submit(self, job: Job) -> None:
        """Put a job behind those that wait. A job is submitted once.

        Raises:
            ClosedError: The executor was closed.
        """

    @abstractmethod
    def outcomes(self) -> Iterator[Outcome]:
        """Yield one outcome for each run of each submitted job, as the runs end.

        Ends when nothing submitted is left, counting jobs that were submitted while it was read.
        After that, another call yields the outcomes of the jobs submitted since. Nothing is lost
        if it is left early: another call goes on.
        """

    @abstractmethod
    def cancel(self, job: Job) -> None:
        """End a submitted job without waiting for it; no effect on one that has ended.

        A waiting job does not start. Of a running job, the process of the run at work is ended.
        That run and those behind it are `cancelled`, which is no failure and leaves no failure
        record; runs that ended before keep their outcomes. Other jobs are not disturbed.
        """

    @abstractmethod
    def interrupt(self) -> int:
        """Ask every run at work to stop, start nothing more, and do not wait; return how many.

        A run that was asked is `cancelled`, unless it comes to its end before it stops. All that
        waits is cancelled at once, and so is a job that is submitted from now on. The outcomes come
        as usual.

        Returns:
            The runs that were asked: none if nothing is at work.
        """

    def detach(self) -> bool:
        """Let go of runs that need this process no longer; return whether they all go on.

        If they do, the process may end without `close`, and the same folders, submitted to
        another executor, are followed there. If not, which is so unless this is overridden,
        nothing has happened.
        """
        return False

    @abstractmethod
    def state(self, job: Job) -> State:
        """Say how far a submitted job is; it goes from waiting to running to ended, never back.

        A job is running from the start of its first run, and has ended once all its outcomes can
        be read without waiting.
        """

    @abstractmethod
    def close(self) -> None:
        """Cancel every job that has not ended; return when no process is left.

        The outcomes can still be read.
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self.close()


def outcome_of(
    folder: RunFolder,
    exit_status: int,
    printed: str = "",
    *,
    starved: bool = False,
    gone: bool = False,
) -> Outcome:
    """Conclude from a worker's exit status and files how its run ended; note why if it failed.

    Args:
        folder: The run folder.
        exit_status: As in `subprocess`: that of the process, or minus the signal that ended it.
        printed: What a worker printed that broke before it could run the folder; the log gets it.
        starved: Whether the kernel is known to have ended it for want of memory.
        gone: Whether that was on another machine, where no lock tells that its process has ended.
    """
    if printed:
        with folder.log.open("a") as log:
            log.write(printed)
    if exit_status == ELSEWHERE:
        return Outcome(folder, "elsewhere")
    if folder.finished:  # written last, so whatever came after it took nothing away
        return Outcome(folder, "finished")
    if folder.diverged:
        return Outcome(folder, "diverged")
    if exit_status == INTERRUPTED:
        return Outcome(folder, "cancelled")
    if starved or exit_status < 0 or not folder.failed:
        return failed(folder, *_why(exit_status, printed, starved=starved), gone=gone)
    return Outcome(folder, "failed")


def failed(folder: RunFolder, reason: str, kind: FailureKind, *, gone: bool = False) -> Outcome:
    """Write why a run failed, as `attempts.close` does, unless another process has it by now."""
    try:
        close(folder, reason, kind, gone=gone)
    except AlreadyRunningError:
        return Outcome(folder, "elsewhere")
    return Outcome(folder, "failed")


def _why(exit_status: int, printed: str, *, starved: bool) -> tuple[str, FailureKind]:
    """Say why a run failed whose worker did not, and what sort of failure that is."""
    if starved:
        return "The kernel ended the worker: the machine has too little memory", "memory"
    if exit_status < 0:
        return f"The worker was ended by {_signal(-exit_status)}", "vanished"
    if exit_status == UNWRITTEN:
        return "The worker could not write why it failed: is the disk full?", "disk"
    *_, last = printed.strip().split("\n")
    how = f": {last}" if last else " and left no result"
    return f"The worker ended with status {exit_status}{how}", "exception"


def _signal(number: int) -> str:
    if number not in set(signal.Signals):
        return f"signal {number}"
    name = signal.Signals(number).name
    return f"{name}: is there enough memory?" if name == "SIGKILL" else name
