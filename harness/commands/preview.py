"""`harness run --dry-run`: which runs are done, and what those to do will take."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from harness.commands.report import counted
from harness.commands.started import Opened
from harness.planning.faults import Faults
from harness.planning.footprint.cards import Card, visible_cards
from harness.planning.history import Estimate, History
from harness.planning.plan import draft
from harness.planning.request import Request
from harness.scheduling.policy import DEFAULT
from harness.spec.planned import PlannedRun
from results.fields import Condition, Field
from results.reports.costs import size
from results.reports.times import duration
from results.runfolder import locks
from results.runfolder.folder import RunFolder, RunFolderError
from results.runfolder.state import state_of
from results.store import Reader
from results.store.query import Part, Query

DONE = ("stored", "diverged", "forgotten", "failed")
"""What is not run again; of failed runs, those with an error that would come again."""

GOES_ON = {"lost": "interrupted", "interrupted": "interrupted", "cancelled": "cancelled"}
"""How a run is called that goes on where it was, by how its last attempt ended."""

COUNTS = (
    Condition(Field("status", "text"), "=", "finished"),
    Condition(Field("forgotten", "text"), "=", ""),
)
PAST = 1_000
"""Runs that estimates look at, at most: memory does not grow with the store."""

KINDS = (*DONE, "running", "interrupted", "cancelled", "to be retried", "new")


def preview(request: Request, store_place: str, root: Path, opened: Opened) -> str:
    """List the runs that a request asks for, how far each is, and what those to do will take.

    Raises:
        UserError: With all faults of the request, or with the runs that fit on no GPU.
    """
    faults = Faults()
    faults.of(lambda: opened.make)
    found = faults.of(lambda: draft(request))
    faults.raise_if_any()
    assert found
    store = Reader(store_place) if _exists(store_place) else None
    ids = [run.spec.run_id for run in found.runs]
    how = _states(ids, store, root)
    ended = {one for one in ids if how[one] in DONE}
    here = opened.here and len(ended) < len(ids)
    cards = visible_cards(opened.resources.per_gpu) if here else []
    planned = found.fitted(cards, ended)
    history = _history(planned, store) if store else History([])
    left = [run for run in planned if how[run.spec.run_id] not in (*DONE, "running")]
    takes = {run.spec.run_id: history.estimate(run) for run in left}
    lines = [_line(run, cards, how[run.spec.run_id], takes.get(run.spec.run_id)) for run in planned]
    kinds = Counter(how[one] for one in ids)
    marks = dict.fromkeys(f"  {mark}" for run in planned for mark in run.marks)
    return "\n".join(
        [
            *lines,
            f"{counted(len(planned), 'run', 'runs')}, {len(left)} to do.",
            f"  {', '.join(f'{kinds[kind]} {kind}' for kind in KINDS if kinds[kind])}",
            *_summed_up(left, takes, opened.resources.gpus_per_run),
            *["  `harness retry RUN` runs what failed again"] * bool(kinds["failed"]),
            *marks,
        ]
    )


def _states(ids: Sequence[str], store: Reader | None, root: Path) -> dict[str, str]:
    """Say of each run how far it is, by the store and by its folder."""
    finished = store.finished_ids() if store else set()
    diverged = store.diverged_ids() if store else set()
    failed = store.failed_ids() if store else set()
    held = locks.held(root) if root.is_dir() else None

    def state(run: str) -> str:
        if run in finished | diverged:
            return "stored" if run in finished else "diverged"
        how = state_of(str(root / run), held).how
        if how in ("finished", "diverged"):
            return "stored" if how == "finished" else how
        if how in ("running", "forgotten"):
            return how
        if how == "failed":
            return _failed(RunFolder(root / run))
        return GOES_ON.get(how) or ("to be retried" if run in failed else "new")

    return {run: state(run) for run in ids}


def _failed(folder: RunFolder) -> str:
    with suppress(RunFolderError):  # a worker sets aside what is damaged
        failure = folder.failure()
        if failure and not DEFAULT.runs_again(failure.kind):
            return "failed"
    return "to be retried"


def _history(planned: Sequence[PlannedRun], store: Reader) -> History:
    """Read what the newest finished runs of these groups and backbones took."""
    wanted = {
        (run.spec.group, run.spec.backbone.name, run.spec.backbone.revision) for run in planned
    }
    kinds = [kind for kind in store.kinds() if (kind.group, *kind.backbone_identity) in wanted]
    return History(store.select(Query(COUNTS, (Part(kinds),)), PAST)[0])


def _line(run: PlannedRun, cards: Sequence[Card], how: str, takes: Estimate | None) -> str:
    told = [*_need(run, cards), *_taken(takes)]
    about = f"  {', '.join(told)}" if told else ""
    return f"{run.spec.run_id}  {run.name}{about}{'' if how == 'new' else f'  ({how})'}"


def _need(run: PlannedRun, cards: Sequence[Card]) -> list[str]:
    """Say how much memory a run is expected to take, and on which GPUs it does not fit."""
    if run.need is None:
        return []
    peak = run.need.peak
    small = [f"GPU {n}" for n, card in enumerate(cards) if not card.holds(peak)]
    how = ["with checkpointing"] if run.checkpoints else []
    return [size(peak), *how, *([f"not on {', '.join(small)}"] if small else [])]


def _taken(takes: Estimate | None) -> list[str]:
    """Say what runs like it took."""
    if takes is None:
        return []
    memory = [] if takes.memory is None else [f"{size(takes.memory)} measured"]
    return [*memory, _between(takes.least, takes.most)]


def _between(least: float, most: float) -> str:
    """Write a range of seconds; once where both ends read the same."""
    return " to ".join(dict.fromkeys((duration(least), duration(most))))


def _summed_up(
    left: Sequence[PlannedRun], takes: Mapping[str, Estimate | None], gpus_per_run: int
) -> list[str]:
    """Say what all runs to do will take together, and how that is known."""
    if not left:
        return []
    known = [one for one in takes.values() if one]
    if not known:
        return ["  no finished run on these backbones and groups says how long they take"]
    on_gpu = any(run.gpu for run in left)
    place, each = ("a GPU", gpus_per_run) if on_gpu else ("a slot", 1)
    like = sum(one.memory is not None for one in known)
    ways = {
        f"{like} as runs like them took": like,
        f"{len(known) - like} scaled by rows from other methods or limits": len(known) - like,
        f"{len(left) - len(known)} without history, not counted": len(left) - len(known),
    }
    least, most = sum(one.least for one in known), sum(one.most for one in known)
    seconds = _between(each * least, each * most)
    devices = sorted(frozenset[str]().union(*(one.devices for one in known)))
    told = ", ".join(way for way, count in ways.items() if count)
    return [f"  {seconds} of {place} ({told}; measured on {', '.join(devices)})"]


def _exists(store_place: str) -> bool:
    return "://" in store_place or Path(store_place).exists()
