"""The items of two runs side by side, page by page: as values that the page and the API share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from results.analysis.items import Pair, PairKind, pairs
from results.errors import ResultsError, unknown
from results.leaderboard.source import Opened
from results.leaderboard.values.attempts.items import PAGE, ItemValue, item_value
from results.leaderboard.values.compared.compare_runs import RunName, run_name
from results.leaderboard.values.paging import paged
from results.record import Run

KINDS: Mapping[str, str] = {
    "gained": "only the first is right",
    "lost": "only the second is right",
    "both-right": "both are right",
    "both-wrong": "both are wrong",
    "different-answer": "the answers differ",
}
"""What a page calls the kinds."""

NOT_JUDGED = "These texts are not right or wrong; they can only be different."


@dataclass(frozen=True)
class PairValue:
    """One row of a benchmark as two runs answered it."""

    first: ItemValue
    second: ItemValue
    told: str
    """Which of the two is right; empty where answers are not judged."""


@dataclass(frozen=True)
class ItemPairsPage:
    """A page of the rows that two runs answered."""

    first: RunName
    second: RunName
    benchmark: str
    benchmarks: tuple[str, ...]
    """Those that both were tested on."""
    kind: PairKind | None
    """Only rows of this kind; None for all."""
    page: int
    """From 1."""
    pages: int
    counts: dict[str, int]
    """Of all rows, by kind, and of all under "all"."""
    note: str
    """What a reader must know of the rows; empty where both answered the same and are judged."""
    pairs: tuple[PairValue, ...]


@dataclass(frozen=True)
class Paired:
    """All rows of a benchmark that two runs answered, once read."""

    first: Run
    second: Run
    benchmark: str
    benchmarks: tuple[str, ...]
    note: str
    pairs: Sequence[Pair]

    def page(self, kind: PairKind | None = None, page: int = 1) -> ItemPairsPage:
        """Give one page of the rows of a kind, or of all; a page after the last is empty."""
        found = paged(self.pairs, KINDS, kind, page, PAGE)
        return ItemPairsPage(
            first=run_name(self.first),
            second=run_name(self.second),
            benchmark=self.benchmark,
            benchmarks=self.benchmarks,
            kind=kind,
            page=page,
            pages=found.pages,
            counts=found.counts,
            note=self.note,
            pairs=tuple(map(_pair, found.shown)),
        )


def paired(opened: Opened, first: str, second: str, benchmark: str) -> Paired:
    """Read the items of one benchmark of two runs.

    Raises:
        ResultsError: There is no such run or benchmark, a folder is gone or damaged, or the two
            were tested on other rows.
    """
    (one, folder), (other, other_folder) = opened.run(first), opened.run(second)
    if one.run_id == other.run_id:
        raise ResultsError(f"Run {one.run_id} cannot be compared with itself.")
    benchmarks = tuple(name for name in one.benchmarks if name in other.benchmarks)
    if not benchmarks:
        raise ResultsError(f"Runs {one.run_id} and {other.run_id} share no benchmark.")
    if benchmark not in benchmarks:
        raise ResultsError(unknown("benchmark of both runs", benchmark, benchmarks))
    for run, place in ((one, folder), (other, other_folder)):
        if not place.has_generations(benchmark):
            raise ResultsError(f"The answers of run {run.run_id} to {benchmark} are not there.")
    if _data(one, benchmark) != _data(other, benchmark):
        raise ResultsError(f"{benchmark}: the two runs were tested on different data.")
    read = opened.source.items
    items, others = read(folder, benchmark), read(other_folder, benchmark)
    both = pairs(items, others)
    if not both:
        raise ResultsError(
            f"{benchmark}: the two runs share no rows; they were tested on different folds."
        )
    return Paired(one, other, benchmark, benchmarks, _note(both, len(items), len(others)), both)


def _data(run: Run, benchmark: str) -> object:
    return run.spec.get("tests", {}).get(benchmark, {}).get("sha256")


def _note(both: Sequence[Pair], first: int, second: int) -> str:
    shared = f"Of {first:,} and {second:,} rows the two share {len(both):,}."
    alone = shared if {first, second} != {len(both)} else ""
    judged = any(pair.first.verdict for pair in both)
    return " ".join(filter(None, [alone, "" if judged else NOT_JUDGED]))


def _pair(pair: Pair) -> PairValue:
    kinds = pair.kinds - {"different-answer"}
    told = next((text for kind, text in KINDS.items() if kind in kinds), "")
    return PairValue(item_value(pair.first), item_value(pair.second), told)
