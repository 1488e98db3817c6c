"""`harness run`: run what is asked for and print the table, or only list it."""

import sys
from collections.abc import Sequence
from pathlib import Path

from harness import plugins
from harness.commands.tables import compared
from harness.planning.faults import Faults
from harness.planning.plan import plan
from harness.planning.request import Request
from harness.scheduling import schedule
from harness.scheduling.slots import local_slots, visible_gpus
from harness.spec.planned import PlannedRun
from results.analysis.table import tables
from results.reports import formats
from results.store import Reader, Store

INTERRUPTED = 130


def run(request: Request, store_place: str, root: Path, executor: str, slots: int | None) -> int:
    """Run what a request asks for and print the table; return the exit status."""
    faults = Faults()
    make = faults.of(lambda: plugins.executor(executor))
    planned = faults.of(lambda: plan(request)) or []
    faults.raise_if_any()
    assert make
    for adjustment in _adjustments(planned):
        print(f"note: {adjustment}.", file=sys.stderr)
    store = Store(store_place)
    try:
        with make(local_slots(slots, visible_gpus())) as running:
            summary = schedule.run(planned, store, root.resolve(), running)
    except KeyboardInterrupt:
        print("Interrupted. What finished is stored; the same command goes on.", file=sys.stderr)
        return INTERRUPTED
    ids = {run.spec.run_id for run in planned}
    own = any(run.provenance.own for run in planned)
    tried = any(run.provenance.tries > 1 for run in planned)
    runs = [run for run in store.runs() if run.run_id in ids]
    found = compared(tables(runs, own_recipes=own, choose=tried))
    print(formats.render(found, "markdown"))
    print(_summed_up(summary, store_place))
    return 1 if summary.failed else 0


def preview(request: Request, store_place: str) -> str:
    """List the runs that a request asks for, and which of them are stored."""
    planned = plan(request)
    known = Reader(store_place).finished_ids() if _exists(store_place) else set()
    lines = [
        f"{run.spec.run_id}  {run.name}{'  (stored)' * (run.spec.run_id in known)}"
        for run in planned
    ]
    left = sum(run.spec.run_id not in known for run in planned)
    marks = dict.fromkeys(f"  {mark}" for run in planned for mark in run.marks)
    return "\n".join([*lines, f"{len(planned)} runs, {left} to do.", *marks])


def _adjustments(planned: Sequence[PlannedRun]) -> list[str]:
    """List what PEFT adjusted, each once."""
    found = (mark for run in planned for mark in run.marks if mark not in run.spec.marks)
    return list(dict.fromkeys(found))


def _summed_up(summary: schedule.Summary, store_place: str) -> str:
    lines = [f"{summary.finished} runs finished and stored in {store_place}."]
    if summary.stored:
        lines.append(f"{summary.stored} were in the store already and were not run again.")
    if summary.cancelled:
        lines.append(f"{summary.cancelled} were cancelled.")
    if summary.elsewhere:
        lines.append(f"{summary.elsewhere} are being run by another process.")
    lines += [f"{run_id} failed: `harness show {run_id}` says why." for run_id in summary.failed]
    return "\n".join(lines)


def _exists(store_place: str) -> bool:
    return "://" in store_place or Path(store_place).exists()
