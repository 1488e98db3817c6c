"""All figures as one page of Markdown tables: `python -m benchmarks validity`."""

from collections.abc import Iterator

from benchmarks.validity import families, folds, intervals, one_seed, over_seeds, seeds_and_items
from benchmarks.validity.simulation import Section, Simulation

HEAD = """# How often tests are wrong

In percent of generated tables whose truth is known; made by
`python -m benchmarks validity > benchmarks/validity.md`. False alarms have to be at most 6 %, and
intervals have to cover the truth in 93 to 97 %, give or take two simulation errors; "(!)" marks
what does not. "Not done" is what the harness avoids. `validity/noise.py` and `validity/worlds.py`
have the noise.
"""

SECTIONS = (
    over_seeds.ALARMS,
    seeds_and_items.ALARMS,
    one_seed.ALARMS,
    folds.ALARMS,
    families.ALARMS,
    intervals.OVER_SEEDS,
    intervals.OVER_ITEMS,
    families.POWER,
    families.ORDER,
)


def report() -> None:
    """Print the tables; a figure that is not where it has to be is marked."""
    print(HEAD)
    for section in SECTIONS:
        print(*_lines(section), sep="\n", flush=True)


def _lines(section: Section) -> Iterator[str]:
    cells = {(one.row, one.column): _cell(one) for one in section.simulations}
    columns = list(dict.fromkeys(column for _, column in cells))
    yield f"| {section.title} | {' | '.join(columns)} |"
    yield f"| :--- |{' ---: |' * len(columns)}"
    for row in dict.fromkeys(row for row, _ in cells):
        yield f"| {row} | {' | '.join(cells.get((row, one), '') for one in columns)} |"
    yield ""


def _cell(simulation: Simulation) -> str:
    rate = simulation.run()
    return f"{100 * rate.share:.1f}{'' if rate.holds else ' (!)'}"
