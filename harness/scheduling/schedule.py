"""Running planned runs: what is stored is not run again, and what ends is stored at once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from harness.scheduling.executors.contract import Executor, Job, Outcome
from harness.scheduling.progress import Display, console
from harness.spec.planned import PlannedRun
from results.analysis.averages import overall
from results.reports import prose
from results.reports.times import duration
from results.runfolder.folder import RunFolder, RunFolderError
from results.runfolder.record_of import record_of
from results.runfolder.verdicts_of import verdicts_of
from results.store import Store


@dataclass
class Summary:
    """How many runs ended in which way.

    Attributes:
        stored: Runs that were in the store, or whole in their folder, before.
        finished: Runs that finished now.
        diverged: Ids of the runs that diverged, now or before.
        failed: Ids of the runs that failed now.
        elsewhere: Runs that another process is working on.
        cancelled: Runs that the user cancelled.
    """

    stored: int = 0
    finished: int = 0
    diverged: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    elsewhere: int = 0
    cancelled: int = 0


def run(
    planned: Sequence[PlannedRun], store: Store, root: Path, executor: Executor | None
) -> Summary:
    """Run what is planned and not yet stored, each in its folder below `root`.

    Args:
        planned: The runs, in the order in which they start. Each is a job of its own.
        store: Where runs are stored as they end, the failed ones too.
        root: The folder of the run folders.
        executor: Where they run, left open; None where all of them ended before.
    """
    todo, summary = [], Summary()
    diverged = store.diverged_ids()
    stored = store.finished_ids() | diverged
    for one in planned:
        folder = RunFolder(root / one.spec.run_id)
        if one.spec.run_id in stored or _restored(folder, store):
            summary.stored += 1
            if one.spec.run_id in diverged or folder.diverged:
                summary.diverged.append(one.spec.run_id)
        else:
            folder.check()
            todo.append((folder, one))
    if todo:
        assert executor
        _execute(todo, store, executor, summary)
    return summary


def _restored(folder: RunFolder, store: Store) -> bool:
    """Store a run that ended without being stored: another process was ended in between.

    One that cannot be read is left to a worker, which sets aside what is damaged of it.
    """
    if not folder.ended:
        return False
    try:
        found, judged = record_of(folder), verdicts_of(folder)
    except RunFolderError:
        return False
    assert found is not None
    store.add(found, judged)
    return True


def _execute(
    todo: Sequence[tuple[RunFolder, PlannedRun]],
    store: Store,
    executor: Executor,
    summary: Summary,
) -> None:
    """Make the folder of each run and submit it; store what ends.

    The first runs start while the folders of the others are made. None of these waits to be made
    until its run starts: they are how others know what waits.
    """
    display = Display(len(todo), console())
    with display.shown():
        for folder, one in todo:
            folder.create(*one.kept)
            folder.copy(one.copies)
            job = Job((folder,))
            executor.submit(job)
            display.expect(folder, one.name, partial(_running, executor, job))
        for outcome in executor.outcomes():
            note = _note(outcome, store, summary)
            display.end(outcome.folder, note, outcome.status)


def _running(executor: Executor, job: Job) -> bool:
    return executor.state(job) == "running"


def _note(outcome: Outcome, store: Store, summary: Summary) -> str:
    """Store how a run ended, count it, and say it in a line."""
    if outcome.status == "elsewhere":
        summary.elsewhere += 1
        return "another process is running it"
    if outcome.status == "cancelled":
        summary.cancelled += 1
        return "cancelled"
    ended = record_of(outcome.folder)
    assert ended is not None
    store.add(ended, verdicts_of(outcome.folder))
    if outcome.status == "failed":
        summary.failed.append(ended.run_id)
        return f"failed: {ended.reason}"
    if outcome.status == "diverged":
        summary.diverged.append(ended.run_id)
        return f"diverged at {ended.reason}"
    summary.finished += 1
    number = overall(ended)
    scored = prose.overall(number) if number else "no score"
    return f"{scored} in {duration(ended.seconds['wall'])}"
