"""Two methods compared: as values that the page and the API share."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, combinations, product

from results.analysis.adjusted import Adjusted, adjusted, of_comparison
from results.analysis.matches import Across
from results.analysis.pairwise import Comparison, compare
from results.errors import ResultsError
from results.leaderboard.source import Opened
from results.leaderboard.values.compared.contrasts import (
    EVERY,
    SEEDS,
    ComparisonValue,
    Over,
    comparison_value,
)
from results.leaderboard.values.tables import Found, found
from results.leaderboard.values.titles import of_runs
from results.leaderboard.view import Versus, View
from results.record import Run
from results.reports.testing import MODELS

CHOOSE = "Choose two methods to compare."


@dataclass(frozen=True)
class RunPair:
    """A run of each of two methods."""

    seeds: tuple[int, int]
    fold: int | None
    first: str
    second: str
    benchmarks: tuple[str, ...]
    """Those of which the answers of both are kept."""


@dataclass(frozen=True)
class Compared:
    """A comparison, and the runs that may be compared item by item."""

    comparison: ComparisonValue
    models: str
    """That tests are of trained models alone; empty where some are over seeds."""
    pairs: tuple[RunPair, ...]
    """Runs of the same seed and fold; without any, the first run of each."""


@dataclass(frozen=True)
class ComparePage:
    """Two methods, compared wherever both have finished runs that may be."""

    versus: Versus
    groups: tuple[str, ...]
    backbones: tuple[str, ...]
    methods: tuple[str, ...]
    """Labels with finished runs of the group on the backbone."""
    protocols: tuple[str, ...]
    titles: Mapping[str, str]
    """What papers call groups, methods and benchmarks, where that is known."""
    compared: tuple[Compared, ...]
    refusal: str
    """Why nothing is compared; empty where something is."""


def compare_page(opened: Opened, asked: Versus) -> ComparePage:
    """Make the values of a comparison of two methods.

    Raises:
        ResultsError: There is no such group or backbone.
    """
    named = tuple(filter(None, (asked.backbone, asked.second_backbone)))
    view = opened.completed(View(group=asked.group, backbones=tuple(dict.fromkeys(named))))
    versus = replace(asked, group=view.group, backbone=next(iter(view.backbones), ""))
    runs = opened.runs(view) if view.group else []
    finished = [run for run in runs if run.status == "finished"]
    called = of_runs(opened, finished)
    compared, refusal = _compared(opened, runs, versus, called)
    return ComparePage(
        versus=versus,
        groups=opened.groups,
        backbones=opened.backbones(view.group),
        methods=tuple(sorted({run.method for run in finished})),
        protocols=tuple(dict.fromkeys(run.protocol for run in finished)),
        titles=called,
        compared=tuple(compared),
        refusal=refusal,
    )


def _compared(
    opened: Opened, runs: Sequence[Run], versus: Versus, called: Mapping[str, str]
) -> tuple[list[Compared], str]:
    """Compare the two, or say why not."""
    across = _across(versus)
    second = versus.second or (versus.first if across != Across() else "")
    if not (versus.first and second):
        return [], CHOOSE
    own = versus.recipes == "own"
    try:
        found = compare(runs, versus.first, second, own, opened.testing_texts, across)
    except ResultsError as error:
        return [], opened.source.public.text(str(error))
    passing = [one for one in found if _passes(one, versus)]
    if not passing:
        return [], f"The two have no runs of protocol {versus.protocol} that may be compared."
    families, kept = adjusted(runs, own, opened.testing, passing), _Kept(opened, runs)
    return [_value(one, families, kept, EVERY, called) for one in passing], ""


def every_pair(opened: Opened, view: View) -> Iterator[ComparePage]:
    """Compare each two methods of a group on a backbone, over seeds alone.

    The tests over items of one pair take longer than all else of it.

    Raises:
        ResultsError: There is no such group or backbone.
    """
    runs, of_rows = opened.runs(view), _rows(found(opened, view))
    families, kept = adjusted(runs), _Kept(opened, runs)
    nothing = ComparePage(
        Versus(view.group, view.backbones[0]),
        groups=opened.groups,
        backbones=opened.backbones(view.group),
        methods=tuple(sorted(of_rows)),
        protocols=(),
        titles=of_runs(opened, runs),
        compared=(),
        refusal=CHOOSE,
    )
    yield nothing
    for first, second in combinations(sorted(of_rows), 2):
        of_both = [kept.runs[run] for run in of_rows[first] | of_rows[second]]
        versus = replace(nothing.versus, first=first, second=second)
        try:
            made = compare(of_both, first, second)
        except ResultsError as error:
            refusal = opened.source.public.text(str(error))
            yield replace(nothing, versus=versus, refusal=refusal)
            continue
        compared = tuple(_value(one, families, kept, (SEEDS,), nothing.titles) for one in made)
        yield replace(nothing, versus=versus, compared=compared, refusal="")


def _rows(tables: Found) -> dict[str, set[str]]:
    """Give the ids of the runs of each row, by its label."""
    rows: dict[str, set[str]] = {}
    for table in tables.tables:
        for block in table.blocks:
            for row in block.rows:
                ids = {run for cell in row.cells for run in cell.runs}
                rows.setdefault(row.label, set()).update(ids)
    return {label: ids for label, ids in rows.items() if ids}


def _value(
    one: Comparison,
    families: Adjusted,
    kept: "_Kept",
    over: Sequence[Over],
    called: Mapping[str, str],
) -> Compared:
    return Compared(
        comparison=comparison_value(one, of_comparison(one, families), over, called),
        models=MODELS if _of_models(one) else "",
        pairs=tuple(_pairs(one, kept)),
    )


def _across(versus: Versus) -> Across:
    """Say in what the two differ besides the method; one name twice is no difference."""
    backbones = versus.backbone, versus.second_backbone
    protocols = versus.protocol, versus.second_protocol
    return Across(
        backbones if backbones[1] and backbones[0] != backbones[1] else None,
        protocols if all(protocols) and protocols[0] != protocols[1] else None,
    )


def _passes(one: Comparison, versus: Versus) -> bool:
    """Say whether a comparison is of the chosen protocol; of two, all are."""
    both = versus.second_protocol or not versus.protocol
    return bool(both) or one.conditions.protocol == versus.protocol


def _ids(one: Comparison) -> Iterator[str]:
    """Give the ids of all runs of a comparison."""
    return chain.from_iterable(ids for by_seed in one.runs for ids in by_seed.values())


def _of_models(one: Comparison) -> bool:
    return all(len(by_seed) == 1 for by_seed in one.runs)


class _Kept:
    """Runs by id, and of which benchmarks they kept the answers."""

    def __init__(self, opened: Opened, runs: Sequence[Run]) -> None:
        self.runs = {run.run_id: run for run in runs}
        self._folders = opened.folders(self.runs)
        self.benchmarks = cache(self._benchmarks)

    def _benchmarks(self, run_id: str) -> tuple[str, ...]:
        folder, names = self._folders.get(run_id), self.runs[run_id].benchmarks
        try:
            return tuple(name for name in names if folder and folder.has_generations(name))
        except ResultsError:  # The page of the run says what is damaged.
            return ()


def _pairs(one: Comparison, kept: _Kept) -> Iterator[RunPair]:
    """Pair the runs of the same seed and fold; without any, the first of each."""
    firsts, seconds = (
        [kept.runs[run] for of_seed in by_seed.values() for run in of_seed] for by_seed in one.runs
    )
    every = list(product(firsts, seconds))
    same = [(a, b) for a, b in every if (a.seed, a.fold) == (b.seed, b.fold)]
    for first, second in same or every[:1]:
        others = kept.benchmarks(second.run_id)
        yield RunPair(
            seeds=(first.seed, second.seed),
            fold=first.fold,
            first=first.run_id,
            second=second.run_id,
            benchmarks=tuple(n for n in kept.benchmarks(first.run_id) if n in others),
        )
