"""`harness run`: run what is asked for and print the table."""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from harness.commands.leaving import Leaving
from harness.commands.report import counted
from harness.commands.started import Opened
from harness.commands.stored import marked
from harness.commands.table import compared
from harness.commands.telling import telling
from harness.planning.faults import Faults
from harness.planning.footprint.cards import visible_cards
from harness.planning.parse import left_out
from harness.planning.plan import Draft, draft
from harness.planning.request import Request
from harness.printed import say
from harness.scheduling import progress, schedule
from harness.scheduling.policy import DEFAULT, Policy
from harness.scheduling.resources import Resources
from harness.scheduling.slots import visible_gpus
from harness.spec.planned import PlannedRun
from results.analysis.table import Table, tables
from results.analysis.testing.tests import Testing
from results.errors import ResultsError
from results.record import Run
from results.reports import formats
from results.runfolder.folder import RunFolder
from results.store import Reader, Store, database
from results.texts import brief


@dataclass(frozen=True)
class Done:
    """What became of the runs of a request.

    Attributes:
        planned: The runs that it stands for, in its order.
        summary: How many ended in which way.
        store: Where they are; it is read when something of it is asked for.
    """

    planned: Sequence[PlannedRun]
    summary: schedule.Summary
    store: Store

    @cached_property
    def stored(self) -> list[Run]:
        """All stored attempts of their groups, those at other runs too, newest first."""
        return self.store.runs(groups={run.spec.group for run in self.planned})

    @cached_property
    def attempts(self) -> list[Run]:
        """The stored attempts at these runs, newest first."""
        ids = {run.spec.run_id for run in self.planned}
        return [run for run in self.stored if run.run_id in ids]

    @cached_property
    def finished(self) -> tuple[Run, ...]:
        """Those that are finished, in the order of the request."""
        found = {run.run_id: run for run in self.attempts if run.status == "finished"}
        ids = (run.spec.run_id for run in self.planned)
        return tuple(found[one] for one in ids if one in found)

    @property
    def failed(self) -> Mapping[str, str]:
        """Why runs failed, now or before, by their ids."""
        oldest_first = reversed(self.attempts)
        reasons = {run.run_id: run.reason for run in oldest_first if run.status == "failed"}
        now = {one: reasons.get(one, "") for one in self.summary.failed}
        return {**self.summary.failed_before, **now}

    @property
    def tables(self) -> list[Table]:
        """The tables of these runs alone, group by group in the order of the request.

        A note counts the runs of other versions of a method.
        """
        own = any(run.provenance.own for run in self.planned)
        tried = any(run.provenance.tries > 1 for run in self.planned)
        found = [
            table
            for group in dict.fromkeys(run.spec.group for run in self.planned)
            for table in tables(
                [run for run in marked(self.attempts) if run.group == group],
                own_recipes=own,
                choose=tried,
                stored=self.stored,
                testing=Testing(verdicts=self.store.verdicts),
            )
        ]
        return compared(found)


def run(
    request: Request,
    store_place: str,
    root: Path,
    opened: Opened,
    leaving: Leaving,
    policy: Policy = DEFAULT,
) -> int:
    """Run what a request asks for, print the table unless that is left; return the exit status."""
    done = carry_out(request, store_place, root, opened, policy)
    if leaving.status:
        leaving.leave()
    try:
        if shown := formats.render(done.tables, "markdown"):
            say(shown)
    finally:  # also where the store is away
        say(summed_up(done.summary, database.name(store_place)))
    return 0 if done.summary.sound else 1


def carry_out(
    request: Request,
    store_place: str,
    root: Path,
    opened: Opened,
    policy: Policy = DEFAULT,
) -> Done:
    """Run what a request asks for, and say what became of it.

    Args:
        request: What was asked for.
        store_place: The store that runs are added to.
        root: The folder of the run folders.
        opened: Gives the executor, as `started` does; it is left open.
        policy: What becomes of runs that fail.

    Raises:
        UserError: With all faults of the request.
    """
    root = root.resolve()
    with progress.waiting("planning", progress.console()):
        found = _draft(request, opened)
        ended = _ended(found.runs, store_place, root)
        left = len(ended) < len(found.runs)
        here = left and opened.here
        gpus = len(visible_gpus()) if here else 0
        cards = visible_cards(opened.resources.per_gpu) if here else []
        planned = found.fitted(cards, ended) if cards else found.runs
    for note in [*_adjustments(planned), *left_out(request), *cut(opened.resources, gpus)]:
        say(f"note: {note.rstrip('.')}.", err=True)
    store = Store(store_place)
    executor = opened.executor if left else None
    with telling(store, store_place, root) if left else nullcontext():
        summary = schedule.run(planned, store, root, executor, policy, opened.leaves)
    return Done(planned, summary, store)


def _draft(request: Request, opened: Opened) -> Draft:
    """Plan the runs, and find what builds the executor; tell the faults of both."""
    faults = Faults()
    faults.of(lambda: opened.make)
    found = faults.of(lambda: draft(request, opened.warm))
    faults.raise_if_any()
    assert found
    return found


def _ended(planned: Sequence[PlannedRun], store_place: str, root: Path) -> set[str]:
    """List the runs that are not run again, since they are stored or whole in their folder."""
    stored = set[str]()
    # An empty database of a server holds nothing yet; what else is wrong, opening the store tells.
    with suppress(ResultsError):
        if "://" in store_place or Path(store_place).exists():
            store = Reader(store_place)
            stored = store.finished_ids() | store.diverged_ids()
    ids = {run.spec.run_id for run in planned}
    return {one for one in ids if one in stored or RunFolder(root / one).ended}


def cut(asked: Resources, gpus: int) -> list[str]:
    """Say so where fewer runs go at a time than were asked for."""
    most = gpus // asked.gpus_per_run * asked.per_gpu
    if not gpus or not asked.slots or asked.slots <= most:
        return []
    there = counted(gpus, "GPU", "GPUs")
    return [f"--slots {asked.slots}: {most} at a time, with {there}; see --per-gpu"]


def _adjustments(planned: Sequence[PlannedRun]) -> list[str]:
    """List what PEFT adjusted, each once."""
    found = (mark for run in planned for mark in run.marks if mark not in run.spec.marks)
    return list(dict.fromkeys(found))


def summed_up(summary: schedule.Summary, store: str) -> str:
    """Say what became of the runs of a command."""
    lines = [f"{counted(summary.finished, 'run', 'runs')} finished and stored in {store}."]
    said = {
        "finished in another process, and stored": summary.by_others,
        "stored before and not run again": summary.stored,
        "forgotten, and not run again": summary.forgotten,
        "cancelled": summary.cancelled,
        "left to another process that is running it": summary.elsewhere,
    }
    lines += [f"{counted(n, 'was', 'were')} {what}." for what, n in said.items() if n]
    if summary.unstored:
        whole = counted(summary.unstored, "outcome is", "outcomes are")
        lines.append(f"{whole} whole in the run folders, not stored: `harness reindex` adds them.")
    lines += [
        f"{run_id} diverged and is not run again: `harness show {run_id}` says where."
        for run_id in summary.diverged
    ]
    lines += [
        f"{run_id} failed before: {brief(reason)}; `harness retry {run_id}` runs it again."
        for run_id, reason in summary.failed_before.items()
    ]
    lines += [f"{run_id} failed: `harness show {run_id}` says why." for run_id in summary.failed]
    return "\n".join(lines)
