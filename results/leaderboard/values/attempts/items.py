"""The items of a run, page by page: as values that the page and the API share."""

from dataclasses import dataclass
from typing import get_args

from results.analysis.items import Item, Kind
from results.errors import ResultsError, unknown
from results.leaderboard.source import Items, Opened
from results.leaderboard.values.attempts.marked import Mark, marks
from results.leaderboard.values.paging import paged
from results.record import Run
from results.runfolder.folder import RunFolder

PAGE = 20
"""Items on a page."""


@dataclass(frozen=True)
class FoundValue:
    """What one extractor found in an answer."""

    extractor: str
    found: str
    """Empty where it found nothing."""
    right: bool
    decides: bool


@dataclass(frozen=True)
class ItemValue:
    """One row of a benchmark as a run answered it."""

    id: int
    kinds: tuple[Kind, ...]
    prompt: str
    gold: str
    reference: str
    judged: str
    """What of the answer was judged."""
    marks: tuple[Mark, ...]
    """Where in it extractors found something."""
    rest: str
    """What came after, and was not judged."""
    verdict: str
    """"right" or "wrong"; empty where the answer is not judged."""
    cut: bool
    long: bool
    in_training: bool
    found: tuple[FoundValue, ...]
    likelihoods: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ItemsPage:
    """A page of the items of a run."""

    run: str
    method: str
    backbone: str
    seed: int
    benchmark: str
    benchmarks: tuple[str, ...]
    kind: Kind | None
    """Only items of this kind; None for all."""
    page: int
    """From 1."""
    pages: int
    counts: dict[str, int]
    """Of all items of the benchmark, by kind, and of all under "all"."""
    items: tuple[ItemValue, ...]


@dataclass(frozen=True)
class Answers:
    """All items of a benchmark of a run, once read."""

    run: str
    method: str
    backbone: str
    seed: int
    fold: int | None
    benchmark: str
    benchmarks: tuple[str, ...]
    items: tuple[ItemValue, ...]

    def page(self, kind: Kind | None = None, page: int = 1) -> ItemsPage:
        """Give one page of the items of a kind, or of all; a page after the last is empty."""
        found = paged(self.items, get_args(Kind), kind, page, PAGE)
        return ItemsPage(
            run=self.run,
            method=self.method,
            backbone=self.backbone,
            seed=self.seed,
            benchmark=self.benchmark,
            benchmarks=self.benchmarks,
            kind=kind,
            page=page,
            pages=found.pages,
            counts=found.counts,
            items=found.shown,
        )


def answers(opened: Opened, run_id: str, benchmark: str) -> Answers:
    """Read the items of one benchmark of a run.

    Raises:
        ResultsError: There is no such run or benchmark, its folder is gone, or a file is damaged.
    """
    return answers_of(*opened.run(run_id), benchmark, opened.source.items)


def answers_of(run: Run, folder: RunFolder, benchmark: str, read: Items) -> Answers:
    """Read the items of one benchmark of a run that is known, by `read`.

    Raises:
        ResultsError: There is no such benchmark, its folder is gone, or a file is damaged.
    """
    if benchmark not in run.benchmarks:
        raise ResultsError(unknown(f"benchmark of run {run.run_id}", benchmark, run.benchmarks))
    if not folder.has_generations(benchmark):
        raise ResultsError(f"The answers of run {run.run_id} to {benchmark} are not there.")
    return Answers(
        run=run.run_id,
        method=run.method,
        backbone=run.backbone,
        seed=run.seed,
        fold=run.fold,
        benchmark=benchmark,
        benchmarks=tuple(name for name in run.benchmarks if folder.has_generations(name)),
        items=tuple(map(item_value, read(folder, benchmark))),
    )


def item_value(item: Item) -> ItemValue:
    """Give an item as a page shows it."""
    kinds = item.kinds
    return ItemValue(
        id=item.id,
        kinds=tuple(kind for kind in get_args(Kind) if kind in kinds),
        prompt=item.prompt,
        gold=item.gold,
        reference=item.reference,
        judged=item.judged,
        marks=marks(item.judged, item.extracted),
        rest=item.answer[len(item.judged) :],
        verdict=item.verdict,
        cut=not item.ended,
        long=item.long,
        in_training=item.in_training,
        found=tuple(
            FoundValue(name, found, item.correct[name], name == item.extractor)
            for name, found in item.extracted.items()
        ),
        likelihoods=tuple((name, f"{value:.3f}") for name, value in item.likelihoods.items()),
    )
