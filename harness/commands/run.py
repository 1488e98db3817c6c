"""What the commands that run, or that read the store with the run folders, do."""

import sys
from pathlib import Path

from pydantic import ValidationError

from harness import plugins
from harness.errors import UserError
from harness.planning.plan import Wish, plan
from harness.scheduling import schedule
from harness.scheduling.slots import local_slots, visible_gpus
from results import details, formats, spread
from results.json_text import json_text
from results.runfolder import record_of as index
from results.runfolder.folder import RunFolder
from results.store import Reader, Store
from results.table import tables

INTERRUPTED = 130


def run(wish: Wish, store_place: str, root: Path, slots: int | None) -> int:
    """Run what a wish asks for and print the table; return the exit status."""
    jobs = plan(wish)
    adjusted = (note for job in jobs for note in job.remarks if note not in job.spec.marks)
    for note in dict.fromkeys(adjusted):
        print(f"note: {note}.", file=sys.stderr)
    store = Store(store_place)
    try:
        with plugins.executor("local")(local_slots(slots, visible_gpus())) as executor:
            summary = schedule.run(jobs, store, root.resolve(), executor)
    except KeyboardInterrupt:
        print("Interrupted. What finished is stored; the same command goes on.", file=sys.stderr)
        return INTERRUPTED
    ids = {job.spec.run_id for job in jobs}
    print(formats.render(tables(one for one in store.runs() if one.run_id in ids), "markdown"))
    print(_summary(summary, store_place))
    return 1 if summary.failed else 0


def preview(wish: Wish, store_place: str) -> str:
    """List the runs that a wish asks for, and which of them are stored."""
    jobs = plan(wish)
    known = Reader(store_place).finished_ids() if _exists(store_place) else set()
    lines = [
        f"{job.spec.run_id}  {job.name}{'  (stored)' * (job.spec.run_id in known)}" for job in jobs
    ]
    left = sum(job.spec.run_id not in known for job in jobs)
    remarks = dict.fromkeys(f"  {remark}" for job in jobs for remark in job.remarks)
    return "\n".join([*lines, f"{len(jobs)} runs, {left} to do.", *remarks])


def table(store_place: str, group: str | None, name: str, *, clean: bool, extractors: bool) -> str:
    """Render the tables of all finished runs, or what their extractors do to them."""
    runs = Reader(store_place).runs(groups=[group] if group else [])
    if extractors and (clean or name not in ("markdown", "json")):
        raise UserError("--extractors is printed as markdown or json, and not with --clean.")
    if extractors:
        spreads = spread.spread(runs)
        if not spreads and name != "json":
            raise UserError(f"No finished run in {store_place} has answers that are extracted.")
        return json_text(spreads) if name == "json" else spread.markdown(spreads)
    found = tables(runs, clean=clean)
    if not found and name != "json":
        which = f"run of {group!r}" if group else "run"
        raise UserError(f"No finished {which} in {store_place}. `harness history` lists all runs.")
    return formats.render(found, name)


def show(store_place: str, prefix: str, as_json: bool) -> str:
    """Show a run; of a failed one the end of its log too."""
    found = Reader(store_place).run(prefix)
    if as_json:
        return json_text(found)
    text = details.markdown(found)
    if found.status == "failed":
        folder = RunFolder(Path(found.folder))
        text += f"\n\n## End of {folder.log}\n\n{folder.end_of_log()}"
    return text


def reindex(store_place: str, root: Path) -> str:
    """Add every run folder below `root` to the store."""
    store, added, skipped = Store(store_place), 0, []
    for folder in index.folders(root):
        try:
            found = index.read(folder)
        except ValidationError:
            skipped.append(f"{folder.path}: the spec is one of another version; left out.")
            continue
        if found:
            store.add(found)
            added += 1
    return "\n".join([*skipped, f"{added} runs of {root} are in {store_place}."])


def _summary(summary: schedule.Summary, store_place: str) -> str:
    lines = [f"{summary.finished} runs finished and stored in {store_place}."]
    if summary.stored:
        lines.append(f"{summary.stored} were in the store already and were not run again.")
    if summary.elsewhere:
        lines.append(f"{summary.elsewhere} are being run by another process.")
    lines += [f"{run_id} failed: `harness show {run_id}` says why." for run_id in summary.failed]
    return "\n".join(lines)


def _exists(store_place: str) -> bool:
    return "://" in store_place or Path(store_place).exists()
