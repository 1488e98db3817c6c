"""Tests made alone, and intervals: wrong as rarely and right as often as they promise."""

import pytest

from benchmarks.validity import folds, intervals, one_seed, over_seeds, seeds_and_items
from benchmarks.validity.simulation import FALSE_ALARMS, STATED, Simulation, row

SECTIONS = (
    over_seeds.ALARMS,
    seeds_and_items.ALARMS,
    one_seed.ALARMS,
    intervals.OVER_SEEDS,
    intervals.OVER_ITEMS,
)
SIMULATIONS = [one for part in SECTIONS for one in part.simulations if one.limits != STATED]
each = pytest.mark.parametrize(
    "simulation", SIMULATIONS, ids=lambda one: f"{one.row}, {one.column}"
)


@each
def test_a_few_tables_keep_the_target(simulation: Simulation) -> None:
    assert simulation.run(part=0.01).holds


@pytest.mark.parts
@each
def test_all_tables_keep_the_target(simulation: Simulation) -> None:
    assert simulation.run().holds


def test_a_test_that_takes_folds_for_seeds_misses_the_target() -> None:
    alarms = folds.alarms(folds.naive, folds.normal)
    (simulation,) = row("naive", "{}", [0.3], alarms, 1000, FALSE_ALARMS)
    assert not simulation.run().holds
