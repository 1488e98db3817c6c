"""Running planned runs: what is stored is not run again, and what ends is stored at once."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from harness.scheduling.executors.contract import Executor
from harness.scheduling.grid import Grid
from harness.scheduling.keeper import Keeper
from harness.scheduling.policy import DEFAULT, Policy
from harness.scheduling.progress import Display, console
from harness.scheduling.summary import Summary
from harness.spec.planned import PlannedRun
from results.runfolder import attempts, wishes
from results.runfolder.folder import RunFolder, RunFolderError
from results.runfolder.record_of import record_of
from results.runfolder.verdicts_of import verdicts_of
from results.store import Store

__all__ = ["Policy", "Summary", "run"]


def run(
    planned: Sequence[PlannedRun],
    store: Store,
    root: Path,
    executor: Executor | None,
    policy: Policy = DEFAULT,
    leaves: Callable[[], bool] = lambda: False,
) -> Summary:
    """Run what is planned and not yet stored, each in its folder below `root`.

    Args:
        planned: The runs, in the order in which they start. Each is a job of its own; one that is
            named twice is one.
        store: Where runs are stored as they end, the failed ones too.
        root: The folder of the run folders.
        executor: Where they run, left open; None where all of them are over.
        policy: What the user wants of failures.
        leaves: Whether the user leaves: then nothing more starts, and what other processes have is
            left to them.
    """
    triage, todo = Triage(store, policy), []
    for one in {one.spec.run_id: one for one in planned}.values():
        folder = RunFolder(root / one.spec.run_id)
        if not triage.is_over(folder):
            folder.check()
            todo.append((folder, one))
    if todo:
        assert executor
        display = Display(len(todo), console())
        keeper = Keeper(store, display.say)
        Grid(executor, keeper, policy, triage.summary, display, leaves).run(todo)
        triage.summary.unstored = keeper.waiting
    return triage.summary


class Triage:
    """Tells the runs that are to run from those that are over; counts the latter."""

    def __init__(self, store: Store, policy: Policy) -> None:
        self.store, self.policy, self.summary = store, policy, Summary()
        self._diverged = store.diverged_ids()
        self._stored = store.finished_ids() | self._diverged

    def is_over(self, folder: RunFolder) -> bool:
        """Whether a run is not to be run; what only its folder knows is stored now."""
        run_id = folder.path.name
        if wishes.forgotten(folder):
            self.summary.forgotten += 1
            return True
        if run_id in self._stored or self._restored(folder):
            self.summary.stored += 1
            if run_id in self._diverged or folder.diverged:
                self.summary.diverged.append(run_id)
            return True
        if reason := self._failed_before(folder):
            self.summary.failed_before[run_id] = reason
            return True
        wishes.go_on(folder)
        return False

    def _restored(self, folder: RunFolder) -> bool:
        """Store a run that ended without being stored: another process was ended in between.

        One that cannot be read is left to a worker, which sets aside what is damaged of it.
        """
        with suppress(RunFolderError):
            attempts.set_aside(folder)
            if folder.ended:
                self._store(folder)
                return True
        return False

    def _failed_before(self, folder: RunFolder) -> str:
        """Say which error ended a run that would end it again; empty where it is to be run."""
        with suppress(RunFolderError):
            failure = folder.failure()
            if failure and not self.policy.runs_again(failure.kind):
                self._store(folder)
                return failure.reason
        return ""

    def _store(self, folder: RunFolder) -> None:
        found = record_of(folder)
        assert found is not None
        self.store.add(found, verdicts_of(folder))
