"""`harness show`: one run, on one screen or in full."""

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from harness.commands.one_run import named
from harness.commands.report import Report
from harness.spec.planned import own_files
from results.record import Run
from results.reports.one_run.attempts import summed
from results.reports.one_run.run import markdown
from results.reports.one_run.screen import screen
from results.reports.times import duration
from results.runfolder import aside, attempts
from results.runfolder.attempts import Attempt
from results.runfolder.events import read_new
from results.runfolder.folder import RunFolder, RunFolderError
from results.runfolder.record_of import EDITED, edits
from results.runfolder.values import TrainRecord


def show(store_place: str, name: str, *, in_full: bool = False) -> Report:
    """Show a run; of a failed one the end of its log too."""
    run = named.record(store_place, name)
    folder = RunFolder(Path(run.folder))
    log = folder.end_of_log() if run.status == "failed" else ""
    record = folder.train_record()
    run, told = _checked(run, folder), _told(folder, record)
    training = (
        record.model_dump(exclude={"peak_memory", "seconds"}, exclude_none=True) if record else {}
    )
    tried = _attempts(folder)
    if not in_full:
        return Report(screen(run, log, training, told), run)
    end = f"\n\n## End of {folder.log}\n\n{log}" if log else ""
    return Report(markdown(run, training, _own_files(folder), told, tried) + end, run)


def _checked(run: Run, folder: RunFolder) -> Run:
    """Mark a run, first of all, whose files are not those that it wrote, the weights among them."""
    if run.status != "finished" or not folder.finished:
        return run
    before = tuple(mark for mark in run.marks if EDITED not in mark)
    return replace(run, marks=(*edits(folder, adapter=True), *before))


def _told(folder: RunFolder, record: TrainRecord | None) -> dict[str, str]:
    """Sum up several attempts, and name what was set aside as damaged, and what the events lack."""
    found = attempts.attempts(folder)
    ends = [one.status or "ended without a word" for one in found]
    peak = max((one.peak_memory_bytes for one in found), default=0)
    told = {
        "attempts": summed(ends, [one.seconds for one in found], peak),
        "set aside": ", ".join(aside.listed(folder.path)),
        "losses": _lacking(folder, record.steps) if record else "",
    }
    return {name: text for name, text in told.items() if text}


def _lacking(folder: RunFolder, steps: int) -> str:
    """Say of how many steps the losses are there, if not of all: the curve has a gap."""
    there = {one.step for one in read_new(folder.events, 0)[0] if one.loss is not None}
    gap = len(there) < steps
    return f"of {len(there)} of {steps} steps: events.jsonl is not whole" if gap else ""


def _attempts(folder: RunFolder) -> list[str]:
    """Say of each start of the run how it ended, a line each; nothing where the folder is gone."""
    with suppress(RunFolderError):
        return [*map(_attempt, attempts.attempts(folder))]
    return []


def _attempt(one: Attempt) -> str:
    began = f"{datetime.fromtimestamp(one.started, UTC):%Y-%m-%d %H:%M:%S}"
    how = f"{one.status} ({one.kind})" if one.kind else one.status or "no word of its end"
    spent = duration(one.seconds.get("wall", 0.0))
    why = f": {one.reason.splitlines()[0]}" if one.reason else ""
    return f"{one.number}. {began} on {one.host}, {spent}, {how}{why}"


def _own_files(folder: RunFolder) -> dict[str, str]:
    """Name the files that were given by path, each with its copy; none where the folder is gone."""
    with suppress(RunFolderError):
        return {
            path: str(place) if (place := folder.copies / copy).is_file() else "none"
            for file in own_files(folder)
            for path, copy in file.copies.items()
        }
    return {}
