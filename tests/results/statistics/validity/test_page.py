"""The page of simulated figures has all simulations, and results/README.md quotes it."""

from pathlib import Path

import pytest

from benchmarks.validity.page import SECTIONS
from benchmarks.validity.simulation import Section

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "benchmarks" / "validity.md").read_text()


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.title)
def test_every_simulation_has_a_row_on_the_page(section: Section) -> None:
    rows = {one.row for one in section.simulations}
    assert [row for row in rows if f"\n| {row} |" not in PAGE] == []


def test_no_figure_on_the_page_misses_its_target() -> None:
    assert "(!) |" not in PAGE


def test_the_figures_of_the_readme_are_those_of_the_page() -> None:
    readme = (ROOT / "results" / "README.md").read_text()
    told = readme.split("### How often tests are wrong")[1].split("\n## ")[0]
    rows = [line for line in told.splitlines() if line.startswith("| ")]
    assert len(rows) > len(SECTIONS)
    assert [row for row in rows if row not in PAGE] == []
