"""`harness run`: run what is asked for and print the table, or only list it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from harness import plugins
from harness.commands.report import counted
from harness.commands.started import Opened, Share
from harness.commands.stored import marked
from harness.commands.table import compared
from harness.planning.faults import Faults
from harness.planning.footprint.cards import Card, visible_cards
from harness.planning.parse import left_out
from harness.planning.plan import plan
from harness.planning.request import Request
from harness.printed import say
from harness.scheduling import progress, schedule
from harness.scheduling.slots import visible_gpus
from harness.spec.planned import PlannedRun
from results.analysis.table import Table, tables
from results.analysis.testing.evidence import Lookup
from results.analysis.testing.tests import Testing
from results.record import Run
from results.reports import formats
from results.reports.costs import size
from results.store import Reader, Store, database

INTERRUPTED = 130


@dataclass(frozen=True)
class Done:
    """What became of the runs of a request.

    Attributes:
        planned: The runs that it stands for, in its order.
        stored: All stored attempts of their groups, those at other runs too, newest first.
        summary: How many ended in which way.
        verdicts: Where tests over items find verdicts.
    """

    planned: Sequence[PlannedRun]
    stored: Sequence[Run]
    summary: schedule.Summary
    verdicts: Lookup

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
        """Why runs failed now, by their ids."""
        oldest_first = reversed(self.attempts)
        reasons = {run.run_id: run.reason for run in oldest_first if run.status == "failed"}
        return {one: reasons[one] for one in self.summary.failed}

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
                testing=Testing(verdicts=self.verdicts),
            )
        ]
        return compared(found)


def run(request: Request, store_place: str, root: Path, opened: Opened, share: Share) -> int:
    """Run what a request asks for and print the table; return the exit status."""
    try:
        done = carry_out(request, store_place, root, opened, share)
    except KeyboardInterrupt:
        say("Interrupted. What finished is stored; the same command goes on.", err=True)
        return INTERRUPTED
    texts = (
        formats.render(done.tables, "markdown"),
        _summed_up(done.summary, database.name(store_place)),
    )
    say("\n".join(filter(None, texts)))
    return 1 if done.summary.failed or done.summary.diverged else 0


def carry_out(request: Request, store_place: str, root: Path, opened: Opened, share: Share) -> Done:
    """Run what a request asks for, and say what became of it.

    Args:
        request: What was asked for.
        store_place: The store that runs are added to.
        root: The folder of the run folders.
        opened: Gives the executor, as `started` does; it is left open.
        share: How much of this machine the runs take.

    Raises:
        UserError: With all faults of the request.
    """
    with progress.waiting("planning", progress.console()):
        cards = visible_cards(share.per_gpu)
        executor, planned = _planned(request, opened, cards or None)
    for note in [*_adjustments(planned), *left_out(request), *share.cut(len(visible_gpus()))]:
        say(f"note: {note.rstrip('.')}.", err=True)
    store = Store(store_place)
    summary = schedule.run(planned, store, root.resolve(), executor)
    groups = {run.spec.group for run in planned}
    return Done(planned, store.runs(groups=groups), summary, store.verdicts)


def preview(request: Request, store_place: str, executor: str, share: Share) -> str:
    """List the runs that a request asks for, which of them are stored, and what each needs.

    Raises:
        UserError: With all faults of the request, or with the runs that fit on no GPU.
    """
    cards = visible_cards(share.per_gpu)
    _, planned = _planned(request, lambda: plugins.executor(executor), cards)
    known = _stored(store_place) if _exists(store_place) else {}
    lines = [
        f"{run.spec.run_id}  {run.name}{_need(run, cards)}{known.get(run.spec.run_id, '')}"
        for run in planned
    ]
    left = sum(run.spec.run_id not in known for run in planned)
    marks = dict.fromkeys(f"  {mark}" for run in planned for mark in run.marks)
    return "\n".join([*lines, f"{counted(len(planned), 'run', 'runs')}, {left} to do.", *marks])


def _need(run: PlannedRun, cards: Sequence[Card]) -> str:
    """Say how much memory a run is expected to take, and on which GPUs it does not fit."""
    if run.need is None:
        return ""
    peak = run.need.peak
    how = ", with checkpointing" if run.checkpoints else ""
    small = [f"GPU {n}" for n, card in enumerate(cards) if not card.holds(peak)]
    misfit = f", not on {', '.join(small)}" if small else ""
    return f"  {size(peak)}{how}{misfit}"


def _planned(
    request: Request, find: Callable[[], Any], cards: Sequence[Card] | None
) -> tuple[Any, list[PlannedRun]]:
    """Find the executor, or what builds it, and plan the runs."""
    faults = Faults()
    executor = faults.of(find)
    planned = faults.of(lambda: plan(request, cards)) or []
    faults.raise_if_any()
    return executor, planned


def _stored(store_place: str) -> dict[str, str]:
    """Say of each run that needs not be run again why."""
    store = Reader(store_place)
    finished = dict.fromkeys(store.finished_ids(), "  (stored)")
    return dict.fromkeys(store.diverged_ids(), "  (diverged)") | finished


def _adjustments(planned: Sequence[PlannedRun]) -> list[str]:
    """List what PEFT adjusted, each once."""
    found = (mark for run in planned for mark in run.marks if mark not in run.spec.marks)
    return list(dict.fromkeys(found))


def _summed_up(summary: schedule.Summary, store: str) -> str:
    lines = [f"{counted(summary.finished, 'run', 'runs')} finished and stored in {store}."]
    if summary.stored:
        lines.append(f"{counted(summary.stored, 'was', 'were')} stored before and not run again.")
    if summary.cancelled:
        lines.append(f"{counted(summary.cancelled, 'was', 'were')} cancelled.")
    if summary.elsewhere:
        lines.append(f"{counted(summary.elsewhere, 'is', 'are')} being run by another process.")
    lines += [
        f"{run_id} diverged and is not run again: `harness show {run_id}` says where."
        for run_id in summary.diverged
    ]
    lines += [f"{run_id} failed: `harness show {run_id}` says why." for run_id in summary.failed]
    return "\n".join(lines)


def _exists(store_place: str) -> bool:
    return "://" in store_place or Path(store_place).exists()
