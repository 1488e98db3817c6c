"""The p of each pair of methods, adjusted for all pairs of their table."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from results.analysis.columns import Columns
from results.analysis.pairwise import Comparison
from results.analysis.runs.sources import versioned
from results.analysis.series import Comparable, comparables
from results.analysis.table import column_sets, families
from results.analysis.testing.tests import DEFAULT, Testing
from results.record import Run

Place = tuple[str, str, frozenset[str]]
"""A metric, a column, and the ids of the runs of both methods."""

Adjusted = Mapping[Place, float]


def adjusted(
    runs: Sequence[Run],
    own_recipes: bool = False,
    testing: Testing = DEFAULT,
    only: Sequence[Comparison] = (),
) -> dict[Place, float]:
    """Adjust the p of every pair for all pairs of its table, as tables do.

    Only where all trained methods of a backbone have several seeds: with one, trained models are
    compared, not methods. With `only`, of the tables that have runs of these comparisons.
    """
    wanted = frozenset[str]().union(*map(_ids, only))
    return dict(
        pair
        for one in versioned(comparables(runs, own_recipes))
        for backbone, family in one.backbones.items()
        if not only or any(run.run_id in wanted for row in family for run in row.runs)
        for shown in column_sets(one)
        for pair in _of_backbone(one, shown, backbone, testing)
    )


def of_comparison(one: Comparison, found: Adjusted) -> dict[str, float]:
    """Give the adjusted p of a comparison by column, where its pair is one of a table."""
    places = {
        contrast.column: (one.metric.name, contrast.column, _ids(one)) for contrast in one.contrasts
    }
    return {column: found[place] for column, place in places.items() if place in found}


def _ids(one: Comparison) -> frozenset[str]:
    return frozenset(run for by_seed in one.runs for ids in by_seed.values() for run in ids)


def _of_backbone(
    one: Comparable, shown: Columns, backbone: str, testing: Testing
) -> Iterator[tuple[Place, float]]:
    series = [row for row in one.backbones[backbone] if row.trained]
    if any(len(row.by_seed) == 1 for row in series):
        return
    ids = {row.label: frozenset(run.run_id for run in row.runs) for row in series}
    for column, tests in families(one, shown, testing, backbone).items():
        for first, second in combinations(ids, 2):
            if (p := tests.adjusted.get((first, second))) is not None:
                yield (shown.metric.name, column, ids[first] | ids[second]), p
