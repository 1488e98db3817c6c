"""Two runs compared, that is two trained models: as values that the page and the API share."""

from collections.abc import Iterator
from dataclasses import dataclass

from results.analysis.pairwise import called, compare_runs
from results.errors import ResultsError
from results.leaderboard.source import Opened
from results.leaderboard.values.attempts.run import facts
from results.leaderboard.values.compared.contrasts import ITEMS, ComparisonValue, comparison_value
from results.leaderboard.view import View
from results.record import Run

CHOOSE = "Choose another run to compare this one with."

TOLD = (
    "These are two trained models, not two methods: tests are over new items, and another seed of "
    "either may answer otherwise."
)

OFFERED = 100
"""Other runs in the list."""


@dataclass(frozen=True)
class RunName:
    """A run, and what to call it."""

    run: str
    title: str


@dataclass(frozen=True)
class Differing:
    """A part of the spec in which two runs differ."""

    name: str
    first: str
    second: str


@dataclass(frozen=True)
class RunsPage:
    """Two runs compared in all that both have scores of."""

    first: RunName
    second: RunName | None
    offered: tuple[RunName, ...]
    """Finished runs of the same group and backbone: those of the same seed first, the newest."""
    told: str
    """What such a comparison says."""
    comparisons: tuple[ComparisonValue, ...]
    differing: tuple[Differing, ...]
    benchmarks: tuple[str, ...]
    """Those that both were tested on."""
    refusal: str
    """Why nothing is compared; empty where something is."""


def runs_page(opened: Opened, first: str, second: str = "") -> RunsPage:
    """Make the values of a comparison of two runs, by the first digits of their ids.

    Raises:
        ResultsError: There is no such run.
    """
    one, _ = opened.run(first)
    other = opened.run(second)[0] if second else None
    compared, refusal = _compared(opened, one, other)
    return RunsPage(
        first=run_name(one),
        second=run_name(other) if other else None,
        offered=tuple(_offered(opened, one)),
        told=TOLD,
        comparisons=compared,
        differing=tuple(_differing(opened, one, other)) if other else (),
        benchmarks=tuple(n for n in one.benchmarks if n in other.benchmarks) if other else (),
        refusal=refusal,
    )


def run_name(run: Run) -> RunName:
    """Name a run."""
    return RunName(run.run_id, called(run))


def _compared(
    opened: Opened, first: Run, second: Run | None
) -> tuple[tuple[ComparisonValue, ...], str]:
    """Compare the two, or say why not."""
    if second is None:
        return (), CHOOSE
    public = opened.source.public
    try:
        found = compare_runs(public.listed(first), public.listed(second), opened.testing_texts)
    except ResultsError as error:
        return (), str(error)
    return tuple(comparison_value(one, {}, (ITEMS,)) for one in found), ""


def _offered(opened: Opened, one: Run) -> Iterator[RunName]:
    runs = opened.runs(View(group=one.group, backbones=(one.backbone,)))
    others = {run.run_id: run for run in runs if run.status == "finished"}
    others.pop(one.run_id, None)
    for run in sorted(others.values(), key=lambda run: run.seed != one.seed)[:OFFERED]:
        yield run_name(run)


def _differing(opened: Opened, first: Run, second: Run) -> Iterator[Differing]:
    """List in what the specs differ, as far as it may be shown."""
    public = opened.source.public
    one, other = (
        {fact.name: fact.value for fact in facts(public.whole(run).spec)} for run in (first, second)
    )
    for name in one | other:
        if one.get(name) != other.get(name):
            yield Differing(name, one.get(name, ""), other.get(name, ""))
