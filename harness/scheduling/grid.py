"""The runs of a request at work, until each has ended: here, or in another process.

Several processes may work on the same runs, on machines that share a file system. Each submits all
of them; which one starts a run is decided by its claim. What another process has is looked at until
it ends there, or until its process is gone: then it is free to be taken over.
"""

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from harness.scheduling.executors.contract import Executor, Job, Outcome
from harness.scheduling.held import Held
from harness.scheduling.keeper import Keeper
from harness.scheduling.policy import Policy
from harness.scheduling.preparing import halvable, prepare, with_halvings
from harness.scheduling.progress import Display, Ending
from harness.scheduling.repeated import repeated
from harness.scheduling.summary import Summary
from harness.spec.planned import PlannedRun
from results.analysis.averages import overall
from results.record import Run
from results.reports import prose
from results.reports.times import duration
from results.runfolder import attempts, wishes
from results.runfolder.folder import AlreadyRunningError, RunFolder, RunFolderError
from results.runfolder.values import Failure, FailureKind
from results.texts import brief

LOOK = 1.0
"""Seconds between two looks at what others have."""

GRACE = 10.0
"""Seconds in which the process that saw a run fail decides on it, before another one does."""


@dataclass
class Cell:
    """A run of the request that has not ended.

    Attributes:
        held: Looks at it while another process has it.
        past: How attempts failed that this process has seen.
        before: How it had failed when this process came to it, which says nothing of who has it.
        job: Ours, from its submission to its outcome; None while another process has the run.
        failed: When it was first seen to have failed elsewhere.
    """

    folder: RunFolder
    planned: PlannedRun
    held: Held
    past: list[FailureKind] = field(default_factory=list)
    before: Failure | None = None
    job: Job | None = None
    failed: float | None = None


class Grid:
    """Takes cells to their ends. What its methods do is done under one lock.

    Args:
        executor: Where runs run.
        keeper: Stores how they ended.
        policy: What the user wants of failures.
        summary: Counts what became of them.
        display: Tells the user.
        leaves: Whether the user leaves, so that no other process is waited for.
    """

    def __init__(
        self,
        executor: Executor,
        keeper: Keeper,
        policy: Policy,
        summary: Summary,
        display: Display,
        leaves: Callable[[], bool],
    ) -> None:
        self.executor, self.keeper, self.policy = executor, keeper, policy
        self.summary, self.display, self._leaves = summary, display, leaves
        self._changed = threading.Condition(threading.RLock())  # guards what follows
        self._open: dict[Path, Cell] = {}
        self._stopping = False
        self._fault: Exception | None = None

    def run(self, todo: Sequence[tuple[RunFolder, PlannedRun]]) -> None:
        """Submit the runs in their order, and return when each has ended.

        The first runs start while the folders of the others are made. None of these waits to be
        made until its run starts: they are how others know what waits.
        """
        with self.display.shown():
            with repeated(self._look, LOOK):
                for folder, planned in todo:
                    with self._changed:
                        self._begin(Cell(folder, planned, Held(folder)))
                while self._goes_on():
                    for outcome in self.executor.outcomes():
                        with self._changed:
                            self._hear(outcome)
            self.keeper.rest()

    def _goes_on(self) -> bool:
        """Wait until a job of ours is submitted, or nothing is left; say which."""
        with self._changed:
            self._changed.wait_for(lambda: self._fault or not self._open or self._submitted())
            if self._fault:
                raise self._fault
            return bool(self._open)

    def _submitted(self) -> bool:
        return any(cell.job for cell in self._open.values())

    def _look(self) -> None:
        """Look at what others have."""
        with self._changed:
            try:
                self._look_at_cells()
            except Exception as fault:  # the thread that reads outcomes raises it
                self._fault = fault
            self._changed.notify_all()

    def _look_at_cells(self) -> None:
        if self._leaves():
            self._stop()
        self.keeper.again()
        for cell in list(self._open.values()):
            if cell.job is None:
                self._see(cell)
            elif wishes.is_cancelled(cell.folder) and not self._at_work(cell):
                self.executor.cancel(cell.job)

    def _begin(self, cell: Cell) -> None:
        self._open[cell.folder.path] = cell
        cell.before = _failure(cell.folder)
        if cell.held.look() == "free":
            self._submit(cell)
        self.display.expect(cell.folder, cell.planned.name, partial(self._at_work, cell))

    def _submit(self, cell: Cell) -> None:
        """Hand a run to the executor, unless another process has begun it."""
        try:
            cell.planned = prepare(cell.folder, cell.planned)
        except AlreadyRunningError:
            return
        cell.job, cell.failed = Job((cell.folder,)), None
        self.executor.submit(cell.job)
        self._changed.notify_all()

    def _at_work(self, cell: Cell) -> bool:
        job = cell.job
        return job is None or self.executor.state(job) == "running"

    def _see(self, cell: Cell) -> None:
        """Look at a run that another process has, or had."""
        seen = cell.held.look()
        if seen == "at work":
            cell.failed = None
        elif seen == "ended":
            self._take(cell)
        elif seen == "free":
            self._find(cell)

    def _take(self, cell: Cell) -> None:
        """Store a run that has ended elsewhere; begin it again where something is damaged."""
        try:
            self._ended(cell, "elsewhere")
        except RunFolderError:
            self._submit(cell)

    def _find(self, cell: Cell) -> None:
        """Go on with a run that nobody works on."""
        failure = _failure(cell.folder)
        if wishes.is_cancelled(cell.folder):
            self._cancelled(cell)
        elif failure in (None, cell.before):
            self._submit(cell)
        elif cell.failed is None and failure.kind != "exception":
            cell.failed = time.monotonic()
        elif cell.failed is None or time.monotonic() - cell.failed > GRACE:
            self._failed(cell)

    def _hear(self, outcome: Outcome) -> None:
        """Act on how a run ended that this process had submitted."""
        cell = self._open[outcome.folder.path]
        cell.job = None
        if outcome.status == "cancelled":
            self._cancelled(cell)
        elif outcome.status == "failed":
            self._failed(cell)
        elif outcome.status == "elsewhere":
            self._leave(cell)
        else:
            self._late(cell)
            if cell.folder.ended:
                self._ended(cell, "here")

    def _late(self, cell: Cell) -> None:
        """Set aside what a process wrote that had lost the run."""
        for aside in attempts.set_aside(cell.folder):
            self.display.note(cell.folder, f"a late report was set aside: {aside.name}")

    def _leave(self, cell: Cell) -> None:
        """Leave a run to the process that has it; it is looked at unless we stop."""
        if self._stopping:
            self.summary.elsewhere += 1
            self._close(cell, "another process is running it", "elsewhere")

    def _cancelled(self, cell: Cell) -> None:
        self.summary.cancelled += 1
        if wishes.is_cancelled(cell.folder):
            self._close(cell, "cancelled", "cancelled")
        else:  # the user leaves, and no run was meant
            self._close(cell, "interrupted", "interrupted")
            self._stop()

    def _failed(self, cell: Cell) -> None:
        """Store a failed attempt, and decide whether there is another one."""
        failure = cell.folder.failure()
        if failure is None:  # another process has taken it over meanwhile
            return
        self.keeper.keep(cell.folder)
        can = failure.kind == "memory" and halvable(cell.planned)
        decision = self.policy.decide(failure.kind, cell.past, halvable=can)
        cell.past.append(failure.kind)
        if decision == "no" or self._stopping:
            self.summary.failed.append(cell.folder.path.name)
            self._close(cell, f"failed: {brief(failure.reason)}", "failed")
            if self.policy.fail_fast:
                self._stop()
            return
        self.display.note(cell.folder, f"{brief(failure.reason)}; {decision}")
        if decision == "again with half the micro-batch":
            cell.planned = with_halvings(cell.planned, cell.planned.memory.halvings + 1)
        self._submit(cell)

    def _stop(self) -> None:
        """Start nothing more; runs at work go on, unless the executor ends them."""
        self._stopping = True
        for cell in list(self._open.values()):
            if cell.job is None:
                self._leave(cell)
            elif not self._at_work(cell):
                self.executor.cancel(cell.job)

    def _ended(self, cell: Cell, where: str) -> None:
        """Store a run that came to its end, count it, and say it in a line."""
        run = self.keeper.keep(cell.folder)
        by = "" if where == "here" else " in another process"
        if run.status == "diverged":
            self.summary.diverged.append(run.run_id)
            return self._close(cell, f"diverged{by} at {brief(run.reason)}", "diverged")
        if by:
            self.summary.by_others += 1
        else:
            self.summary.finished += 1
        return self._close(cell, f"{_scored(run)}{by}", "finished")

    def _close(self, cell: Cell, note: str, how: Ending) -> None:
        del self._open[cell.folder.path]
        self.display.end(cell.folder, note, how)
        self._changed.notify_all()


def _failure(folder: RunFolder) -> Failure | None:
    """Read why a run failed; None too where that is damaged, which the next attempt sets aside."""
    try:
        return folder.failure()
    except RunFolderError:
        return None


def _scored(run: Run) -> str:
    number = overall(run)
    scored = prose.overall(number) if number else "no score"
    return f"{scored} in {duration(run.seconds['wall'])}"
