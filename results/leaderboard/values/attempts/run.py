"""One run down to the ground: what it was, how it went, its scores: as values for page and API."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from typing import Any

from results.analysis.metrics import metric
from results.leaderboard.public import Public, host_of
from results.leaderboard.source import Opened
from results.leaderboard.values.charted.curves import Curve, curve_of
from results.record import Run, Score
from results.reports import costs, prose
from results.reports.one_run.command import whole
from results.runfolder.events import losses, read_new
from results.runfolder.folder import RunFolder
from results.runfolder.state import How
from results.runfolder.values import Event
from results.statistics import wilson

POINTS = 40
"""Of a curve, evenly chosen; the last one is always there."""

WIDTH = 100
"""Columns of a command."""

NOT_STORED = "This attempt is not in the store; what is here comes from its run folder."

NO_FOLDER = "Its run folder is not where the store says, so its curve, log and items are not here."


@dataclass(frozen=True)
class Fact:
    """A name and a value, as text."""

    name: str
    value: str


@dataclass(frozen=True)
class ScoreValue:
    """A score of the run; the interval of a share is Wilson's, over items."""

    benchmark: str
    metric: str
    extractor: str
    headline: bool
    value: str
    interval: str
    n: int
    unparsed: int


@dataclass(frozen=True)
class Point:
    """A moment of the training; a loss that is not finite is a text such as "nan"."""

    step: int
    loss: str
    validation_loss: str
    tokens: int | None


@dataclass(frozen=True)
class RunPage:
    """A run; what only its folder tells is empty where that is gone."""

    run: str
    status: How
    reason: str
    started: datetime
    method: str
    backbone: str
    group: str
    protocol: str
    seed: int
    fold: int | None
    marks: tuple[str, ...]
    flags: tuple[str, ...]
    summary: tuple[Fact, ...]
    spec: tuple[Fact, ...]
    environment: tuple[Fact, ...]
    provenance: tuple[Fact, ...]
    scores: tuple[ScoreValue, ...]
    curve: tuple[Point, ...]
    curve_of: int
    """Points before some were left out."""
    losses: Curve | None
    """What its chart shows; None without any loss."""
    log: str
    """The end of what it printed."""
    items: tuple[str, ...]
    """The benchmarks whose items are kept."""
    folder_gone: str
    """That the run folder is not there; empty where it is."""
    not_stored: str
    """That the store does not have this attempt; empty where it does."""
    rerun: str
    """The command that runs the same spec again; empty where there is nothing to run again."""
    command: str
    """The command that asked for it; empty where none is recorded."""


def run_page(opened: Opened, run_id: str) -> RunPage:
    """Make the values of the newest attempt at a run, which may go on.

    Raises:
        ResultsError: There is no such run, or a file of its folder is damaged.
    """
    public = opened.source.public
    if begun := opened.begun(run_id):
        return page_of(begun.run, begun.folder, public, begun.how)
    return page_of(*opened.run(run_id), public)


def page_of(stored: Run, folder: RunFolder, public: Public, how: How | None = None) -> RunPage:
    """Make the values of a run that is known; `how` it is tells one that is not stored.

    Raises:
        ResultsError: A file of its folder is damaged.
    """
    there = folder.path.is_dir() and bool(stored.folder)
    curve = _curve(folder) if there else []
    run = public.whole(stored)
    return RunPage(
        run=run.run_id,
        status=how or run.status,
        reason=run.reason,
        started=run.started,
        method=run.method,
        backbone=run.backbone,
        group=run.group,
        protocol=prose.how(run.protocol, run.conditions),
        seed=run.seed,
        fold=run.fold,
        marks=run.marks,
        flags=run.flags,
        summary=tuple(_summary(run)),
        spec=tuple(facts(run.spec)),
        environment=tuple(facts(run.environment)),
        provenance=tuple(facts({k: v for k, v in run.provenance.items() if k != "command"})),
        scores=tuple(map(_score, run.scores)),
        curve=tuple(map(_point, _chosen(curve))),
        curve_of=len(curve),
        losses=curve_of(stored, folder) if there else None,
        log=public.text(folder.end_of_log(), host_of(stored)) if there else "",
        items=() if how or not there else _answered(run, folder),
        folder_gone="" if there else NO_FOLDER,
        not_stored=NOT_STORED if how else "",
        rerun="" if how else f"harness rerun {run.run_id}",
        command=_command(run),
    )


def _answered(run: Run, folder: RunFolder) -> tuple[str, ...]:
    return tuple(name for name in run.benchmarks if folder.has_generations(name))


def _summary(run: Run) -> Iterator[Fact]:
    if run.total_parameters:
        share = 100 * run.trainable_parameters / run.total_parameters
        counts = f"{run.trainable_parameters:,} of {run.total_parameters:,}"
        yield Fact("trainable parameters", f"{counts} ({share:.3g} %)")
    if run.validation_loss is not None:
        yield Fact("validation loss", f"{run.validation_loss:.4f} nats per token, the lowest")
    for name, spent in run.seconds.items():
        yield Fact(f"time, {name}", costs.seconds(spent))
    if run.train_tokens_per_second:
        yield Fact("training speed", f"{run.train_tokens_per_second:,.0f} tokens per second")
    if run.peak_memory_bytes:
        yield Fact("peak memory", costs.size(run.peak_memory_bytes))
    if run.adapter_bytes:
        yield Fact("adapter", costs.size(run.adapter_bytes))
    if run.folder:
        yield Fact("folder", run.folder)


def facts(values: Mapping[str, Any], prefix: str = "") -> Iterator[Fact]:
    """Flatten nested values, their names joined with points."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from facts(value, f"{prefix}{name}.")
        else:
            yield Fact(f"{prefix}{name}", _written(value))


def _written(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_written, value))
    return {None: "none", True: "yes", False: "no"}.get(value, str(value))


def _score(score: Score) -> ScoreValue:
    known, interval = metric(score.metric), ""
    if known.share and isfinite(score.value) and score.n:
        low, high = wilson.interval(score.value, score.n)
        interval = f"{known.written(low)} to {known.written(high)}"
    return ScoreValue(
        benchmark=score.benchmark,
        metric=score.metric,
        extractor=score.read_by,
        headline=score.headline,
        value=prose.value(known, score.value),
        interval=interval,
        n=score.n,
        unparsed=score.unparsed,
    )


def _curve(folder: RunFolder) -> list[Event]:
    """List the moments with a loss, in order."""
    return losses(read_new(folder.events, 0)[0])


def _chosen(curve: list[Event]) -> list[Event]:
    """Choose points evenly, with the first and the last."""
    if len(curve) <= POINTS:
        return curve
    return [curve[round(n * (len(curve) - 1) / (POINTS - 1))] for n in range(POINTS)]


def _point(event: Event) -> Point:
    return Point(event.step or 0, _loss(event.loss), _loss(event.validation_loss), event.tokens)


def _loss(loss: float | None) -> str:
    return "" if loss is None else f"{loss:.4f}"


def _command(run: Run) -> str:
    words = run.provenance.get("command", ())
    return "\n".join(line.removeprefix("    ") for line in whole(words, WIDTH).splitlines())
