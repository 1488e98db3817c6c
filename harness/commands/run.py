"""What the commands that run, or that read the store with the run folders, do."""

import sys
from pathlib import Path

from pydantic import ValidationError

from harness.errors import UserError
from harness.planning.plan import Wish, plan
from harness.scheduling import schedule as grid
from harness.scheduling.executors.local import LocalWorkers, slot_environments, visible_gpus
from results.analysis.extractors import extractor_effects
from results.analysis.table import tables
from results.reports import extractors as extractors_report
from results.reports import formats
from results.reports import run as run_report
from results.reports.to_json import to_json
from results.runfolder import record_of as index
from results.runfolder.folder import RunFolder
from results.store import Reader, Store

INTERRUPTED = 130


def run(wish: Wish, store_place: str, root: Path, slots: int | None) -> int:
    """Run what a wish asks for and print the table; return the exit status."""
    jobs = plan(wish)
    adjusted = (note for job in jobs for note in job.remarks if note not in job.spec.marks)
    for note in dict.fromkeys(adjusted):
        print(f"note: {note}.", file=sys.stderr)
    store = Store(store_place)
    environments = slot_environments(slots, visible_gpus())
    try:
        with LocalWorkers(environments) as workers:
            report = grid.run(jobs, store, root.resolve(), len(environments), workers)
    except KeyboardInterrupt:
        print("Interrupted. What finished is stored; the same command goes on.", file=sys.stderr)
        return INTERRUPTED
    ids = {job.spec.run_id for job in jobs}
    print(formats.render(tables(one for one in store.runs() if one.run_id in ids), "markdown"))
    print(_summary(report, store_place))
    return 1 if report.failed else 0


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
        effects = extractor_effects(runs)
        if not effects and name != "json":
            raise UserError(f"No finished run in {store_place} has answers that are extracted.")
        return to_json(effects) if name == "json" else extractors_report.markdown(effects)
    found = tables(runs, clean=clean)
    if not found and name != "json":
        which = f"run of {group!r}" if group else "run"
        raise UserError(f"No finished {which} in {store_place}. `harness history` lists all runs.")
    return formats.render(found, name)


def show(store_place: str, prefix: str, as_json: bool) -> str:
    """Show a run; of a failed one the end of its log too."""
    found = Reader(store_place).run(prefix)
    if as_json:
        return to_json(found)
    text = run_report.markdown(found)
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


def _summary(report: grid.Report, store_place: str) -> str:
    lines = [f"{report.finished} runs finished and stored in {store_place}."]
    if report.stored:
        lines.append(f"{report.stored} were in the store already and were not run again.")
    if report.elsewhere:
        lines.append(f"{report.elsewhere} are being run by another process.")
    lines += [f"{run_id} failed: `harness show {run_id}` says why." for run_id in report.failed]
    return "\n".join(lines)


def _exists(store_place: str) -> bool:
    return "://" in store_place or Path(store_place).exists()
