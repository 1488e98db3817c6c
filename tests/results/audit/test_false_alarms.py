"""Right tables raise no false alarm, and planted faults are found: the figures of the README.

The tables and the faults are made without the code of the checks.
"""

from collections.abc import Callable, Sequence
from random import Random

import pytest

from results.audit.audit import audit
from results.audit.finding import Finding
from results.audit.table import PrintedTable
from tests.results.audit.faults import impossible_cell, wrong_average
from tests.results.audit.right_tables import Style, right_table

MANY = pytest.param(range(1000), marks=pytest.mark.parts, id="1000 tables")
FEW = pytest.param(range(2000, 2030), id="30 tables")

Plant = Callable[[PrintedTable, Style, Random], tuple[PrintedTable, int, int] | None]


def grave(table: PrintedTable) -> list[Finding]:
    return [finding for finding in audit(table).findings if finding.grade != "notable"]


@pytest.mark.parametrize("seeds", [FEW, MANY])
def test_no_right_table_is_impossible_and_one_in_a_hundred_inconsistent_at_most(
    seeds: Sequence[int],
) -> None:
    found = [grave(right_table(seed)[0]) for seed in seeds]
    assert [one for findings in found for one in findings if one.grade == "impossible"] == []
    assert sum(map(bool, found)) <= len(seeds) / 100


@pytest.mark.parametrize("seeds", [FEW, MANY])
@pytest.mark.parametrize("plant", [impossible_cell, wrong_average])
def test_19_in_20_planted_faults_are_found_and_named(plant: Plant, seeds: Sequence[int]) -> None:
    planted = [plant(*right_table(seed), Random(seed)) for seed in seeds]
    # Some tables have no column in which any value is impossible.
    found = [is_named(*fault) for fault in planted if fault]
    assert len(found) > len(seeds) / 2
    assert sum(found) >= 0.95 * len(found)


def is_named(table: PrintedTable, row: int, column: int) -> bool:
    place = f"{table.rows[row]}, {table.columns[column]}"
    return any(place in finding.where + finding.arithmetic for finding in grave(table))
