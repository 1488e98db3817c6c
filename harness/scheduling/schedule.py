"""Running a grid of jobs: what is in the store is not run again, what ends is stored at once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.scheduling.executors.local import Launch, Outcome, execute
from harness.scheduling.progress import Display, console, duration
from harness.spec.planned import PlannedRun
from results.analysis.averages import overall
from results.reports import prose
from results.runfolder import record_of as index
from results.runfolder.folder import RunFolder
from results.store import Store


@dataclass
class Report:
    """What became of a grid.

    Attributes:
        stored: Runs that were in the store, or in their folder, before.
        finished: Runs that finished now.
        failed: Ids of the runs that failed now.
        elsewhere: Runs that another process is working on.
    """

    stored: int = 0
    finished: int = 0
    failed: list[str] = field(default_factory=list)
    elsewhere: int = 0


def run(jobs: Sequence[PlannedRun], store: Store, root: Path, slots: int, launch: Launch) -> Report:
    """Run the jobs that have not been run, each in its folder below `root`."""
    todo, report = [], Report()
    known = store.finished_ids()
    for job in jobs:
        folder = RunFolder(root / job.spec.run_id)
        if job.spec.run_id not in known and not _restored(folder, store):
            folder.create(job)
            todo.append((folder, job))
        else:
            report.stored += 1
    if todo:
        _execute(todo, store, slots, launch, report)
    return report


def _restored(folder: RunFolder, store: Store) -> bool:
    """Store a run that finished without being stored: another process was ended in between."""
    if not folder.has("result.json"):
        return False
    run = index.read(folder)
    assert run is not None
    store.add(run)
    return True


def _execute(
    todo: Sequence[tuple[RunFolder, PlannedRun]],
    store: Store,
    slots: int,
    launch: Launch,
    report: Report,
) -> None:
    names = {str(folder.path): job.name for folder, job in todo}
    display = Display(len(todo), console())

    def shown(folder: RunFolder, slot: int) -> int:
        display.begin(folder, names[str(folder.path)])
        return launch(folder, slot)

    with display.shown():
        for outcome in execute([folder for folder, _ in todo], slots, shown):
            note = _note(outcome, store, report)
            display.end(outcome.folder, note, failed=outcome.status == "failed")


def _note(outcome: Outcome, store: Store, report: Report) -> str:
    """Store how a run ended, count it, and say it in a line."""
    if outcome.status == "elsewhere":
        report.elsewhere += 1
        return "another process is running it"
    ended = index.read(outcome.folder)
    assert ended is not None
    store.add(ended)
    if outcome.status == "failed":
        report.failed.append(ended.run_id)
        return f"failed: {ended.reason}"
    report.finished += 1
    return f"{prose.overall(overall(ended))} in {duration(ended.seconds['wall'])}"
