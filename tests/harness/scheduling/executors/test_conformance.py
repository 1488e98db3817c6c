"""`local` passes every check, so does an executor of a user's own, and a wrong one is caught."""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from queue import SimpleQueue
from typing import ClassVar

import pytest

from harness.scheduling.executors.conformance import checks, trial
from harness.scheduling.executors.conformance.checks import CHECKS, Check
from harness.scheduling.executors.conformance.trial import Make
from harness.scheduling.executors.contract import (
    ClosedError,
    Executor,
    Job,
    Outcome,
    State,
    outcome_of,
)
from harness.scheduling.executors.local import LocalExecutor
from harness.scheduling.process import WorkerProcess
from harness.scheduling.slots import Slot
from results.runfolder.folder import RunFolder


class Own(Executor):
    """A user's own executor: a thread per slot, a process per run."""

    def __init__(self, slots: Sequence[Slot], command: Sequence[str]) -> None:
        self.command, self.lock = command, threading.RLock()
        self.jobs: SimpleQueue[Job | None] = SimpleQueue()
        self.ended: SimpleQueue[Outcome | None] = SimpleQueue()
        self.states: dict[Job, State] = {}
        self.cancelled: set[Job] = set()
        self.processes: dict[Job, subprocess.Popen[bytes]] = {}
        self.left, self.closed, self.interrupted = 0, False, False
        self.threads = [threading.Thread(target=self.serve, args=(slot,)) for slot in slots]
        for thread in self.threads:
            thread.start()

    def submit(self, job: Job) -> None:
        with self.lock:
            if self.closed:
                raise ClosedError
            self.states[job] = "waiting"
            self.left += len(job.folders)
            self.jobs.put(job)

    def outcomes(self) -> Iterator[Outcome]:
        while self.left:
            outcome = self.ended.get()
            assert outcome
            with self.lock:
                self.left -= 1
            yield outcome

    def cancel(self, job: Job) -> None:
        with self.lock:
            if self.states[job] != "ended":
                self.cancelled.add(job)
            if job in self.processes:
                self.kill(self.processes[job])

    def interrupt(self) -> int:
        with self.lock:
            self.interrupted = True
            for process in self.processes.values():
                process.send_signal(signal.SIGTERM)
            return len(self.processes)

    def state(self, job: Job) -> State:
        return self.states[job]

    def close(self) -> None:
        with self.lock:
            self.closed = True
            for job in self.states:
                self.cancel(job)
        for _ in self.threads:
            self.jobs.put(None)
        for thread in self.threads:
            thread.join()

    def serve(self, slot: Slot) -> None:
        while job := self.jobs.get():
            for folder in job.folders:
                outcome = self.run(job, folder, slot)
                with self.lock:
                    if folder is job.folders[-1]:
                        self.states[job] = "ended"
                    self.ended.put(outcome)

    def run(self, job: Job, folder: RunFolder, slot: Slot) -> Outcome:
        with self.lock:
            if self.interrupted or job in self.cancelled:
                return Outcome(folder, "cancelled")
            self.states[job] = "running"
            process = self.processes[job] = self.start(folder, slot)
        status = process.wait()
        with self.lock:
            del self.processes[job]
            if job in self.cancelled and status < 0:
                return Outcome(folder, "cancelled")
            return self.conclude(folder, status)

    def start(self, folder: RunFolder, slot: Slot) -> "subprocess.Popen[bytes]":
        with folder.log.open("ab") as log:
            return subprocess.Popen(
                [*self.command, os.fspath(folder.path)],
                stdout=log,
                stderr=log,
                env={**os.environ, **slot.environment},
                start_new_session=True,
            )

    def kill(self, process: "subprocess.Popen[bytes]") -> None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    def conclude(self, folder: RunFolder, status: int) -> Outcome:
        return outcome_of(folder, status)


def local(slots: Sequence[Slot], command: Sequence[str]) -> Executor:
    return LocalExecutor(slots, command)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_local_conforms(check: Check) -> None:
    check(local)  # asserts


@pytest.mark.parts
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_users_own_executor_conforms(check: Check) -> None:
    check(Own)  # asserts


class OneOutcomeForEachJob(Own):
    def outcomes(self) -> Iterator[Outcome]:
        last = {job.folders[-1] for job in self.states}
        return (outcome for outcome in super().outcomes() if outcome.folder in last)


class InOrderOfSubmission(Own):
    def outcomes(self) -> Iterator[Outcome]:
        found: dict[RunFolder, Outcome] = {}
        for folder in [folder for job in self.states for folder in job.folders]:
            while folder not in found:
                found |= {outcome.folder: outcome for outcome in [next(super().outcomes())]}
            yield found[folder]


class LastInFirstOut(Own):
    def serve(self, slot: Slot) -> None:
        stack = []
        while job := self.jobs.get():
            stack.append(job)
            if len(stack) == 3:
                for later in reversed(stack):
                    self.jobs.put(later)
                self.jobs.put(None)
                super().serve(slot)
                return


class MoreThanTheSlots(LocalExecutor):
    def __init__(self, slots: Sequence[Slot], command: Sequence[str]) -> None:
        super().__init__([*slots, *slots], command)


class WarmsAnotherSlot(LocalExecutor):
    def __init__(self, slots: Sequence[Slot], command: Sequence[str]) -> None:
        super().__init__(slots, command)
        self.another = WorkerProcess(command, slots[0].environment)

    def warm(self) -> None:
        self._idle.append(self.another)


class OneSlotForAll(LocalExecutor):
    def __init__(self, slots: Sequence[Slot], command: Sequence[str]) -> None:
        super().__init__(slots[:1], command)


class RunsOfAJobAtOnce(LocalExecutor):
    def __init__(self, slots: Sequence[Slot], command: Sequence[str]) -> None:
        super().__init__(slots, command)

    def submit(self, job: Job) -> None:
        for folder in job.folders:
            super().submit(Job((folder,)))


class EndsAJobAtItsFirstFailure(Own):
    def conclude(self, folder: RunFolder, status: int) -> Outcome:
        if status:
            self.cancelled |= {job for job in self.states if folder in job.folders}
        return super().conclude(folder, status)


class GivesNoReason(Own):
    def conclude(self, folder: RunFolder, status: int) -> Outcome:
        return super().conclude(folder, status) if status in (0, 75) else Outcome(folder, "failed")


class BelievesTheStatus(Own):
    def conclude(self, folder: RunFolder, status: int) -> Outcome:
        return super().conclude(folder, status) if status else Outcome(folder, "finished")


class CallsElsewhereFailed(Own):
    def conclude(self, folder: RunFolder, status: int) -> Outcome:
        return Outcome(folder, "failed") if status else super().conclude(folder, status)


class ReadsOnce(Own):
    read = False

    def outcomes(self) -> Iterator[Outcome]:
        if not self.read:
            yield from super().outcomes()
        self.read = True


class SaysRunningAtOnce(Own):
    def state(self, job: Job) -> State:
        return "running" if self.states[job] == "waiting" else self.states[job]


class CancelsOnlyWhatRuns(Own):
    def cancel(self, job: Job) -> None:
        if self.states[job] == "running" or self.closed:
            super().cancel(job)


class CancelsOnlyWhatWaits(Own):
    """A cancelled run works on, and its process is left when the context is."""

    orphans: ClassVar[list["subprocess.Popen[bytes]"]] = []

    def run(self, job: Job, folder: RunFolder, slot: Slot) -> Outcome:
        with self.lock:
            self.states[job] = "running"
        if job in self.cancelled:
            return Outcome(folder, "cancelled")
        self.orphans.append(process := self.start(folder, slot))
        while process.poll() is None and job not in self.cancelled:
            threading.Event().wait(0.01)
        status = process.poll()
        return Outcome(folder, "cancelled") if status is None else self.conclude(folder, status)


class CallsCancelledFailed(Own):
    def run(self, job: Job, folder: RunFolder, slot: Slot) -> Outcome:
        outcome = super().run(job, folder, slot)
        return outcome_of(folder, -9) if outcome.status == "cancelled" else outcome


class InterruptsByKilling(Own):
    def interrupt(self) -> int:
        asked = super().interrupt()
        for job in [*self.processes]:
            self.cancel(job)
        return asked


class StartsWhatWaits(LocalExecutor):
    def interrupt(self) -> int:
        for worker in self._running.values():
            worker.interrupt()
        return len(self._running)


class WaitsForRunsThatStop(Own):
    def close(self) -> None:
        if self.interrupted:
            self.cancelled |= {*self.states}
            for process in [*self.processes.values()]:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(1)
                CancelsOnlyWhatWaits.orphans.append(process)
            return
        super().close()


class EndsAllWhenOneIsCancelled(Own):
    def cancel(self, job: Job) -> None:
        for process in [*self.processes.values()]:
            self.kill(process)
        super().cancel(job)


WRONG: list[tuple[Make, Check]] = [
    (OneOutcomeForEachJob, checks.every_run_has_one_outcome),
    (LastInFirstOut, checks.jobs_start_in_the_order_of_submission),
    (RunsOfAJobAtOnce, checks.runs_of_a_job_never_overlap),
    (MoreThanTheSlots, checks.as_many_runs_at_a_time_as_slots),
    (OneSlotForAll, checks.as_many_runs_at_a_time_as_slots),
    (WarmsAnotherSlot, checks.warming_up_takes_and_adds_no_slot),
    (InOrderOfSubmission, checks.outcomes_come_as_runs_end),
    (ReadsOnce, checks.jobs_can_be_submitted_while_outcomes_are_read),
    (EndsAJobAtItsFirstFailure, checks.a_failed_run_leaves_a_reason_and_ends_no_other),
    (GivesNoReason, checks.a_failed_run_leaves_a_reason_and_ends_no_other),
    (BelievesTheStatus, checks.finished_means_that_there_is_a_result),
    (CallsElsewhereFailed, checks.a_run_of_another_process_is_left_alone),
    (SaysRunningAtOnce, checks.a_state_goes_from_waiting_to_running_to_ended),
    (CancelsOnlyWhatRuns, checks.a_cancelled_job_that_waits_does_not_start),
    (CallsCancelledFailed, checks.a_cancelled_job_that_waits_does_not_start),
    (CancelsOnlyWhatWaits, checks.a_cancelled_job_that_runs_is_ended),
    (EndsAllWhenOneIsCancelled, checks.a_cancelled_job_that_runs_is_ended),
    (InterruptsByKilling, checks.interrupting_lets_a_run_stop_by_itself),
    (StartsWhatWaits, checks.interrupting_lets_a_run_stop_by_itself),
    (WaitsForRunsThatStop, checks.a_run_that_does_not_stop_is_ended_by_closing),
    (CancelsOnlyWhatWaits, checks.leaving_ends_what_is_at_work),
]


@pytest.fixture
def orphans() -> Iterator[None]:
    """End what a wrong executor leaves behind."""
    yield
    for process in CancelsOnlyWhatWaits.orphans:
        process.kill()
        process.wait()


@pytest.mark.usefixtures("orphans")
@pytest.mark.parametrize(
    ("wrong", "check"),
    [
        # Most wait for what never comes; one that does not stays among the quick tests.
        pytest.param(*one, id="-".join(part.__name__ for part in one), marks=marks)
        for one, marks in zip(WRONG, [(), *[pytest.mark.parts] * len(WRONG)], strict=False)
    ],
)
def test_a_wrong_executor_is_caught(
    wrong: Make, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Some are caught since what is claimed does not happen for so long.
    monkeypatch.setattr(trial, "SECONDS", 2)
    with pytest.raises(AssertionError):
        check(wrong)


def test_every_check_catches_an_executor() -> None:
    assert {check for _, check in WRONG} == set(CHECKS)
