"""Families of 22 equal methods, stars and rank sets: wrong as rarely as they promise."""

import pytest

from benchmarks.validity import families
from benchmarks.validity.simulation import STATED, Simulation

SECTIONS = (families.ALARMS, families.ORDER)
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
