"""The tables that a view looks at, before it hides any of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from results.analysis.columns import CLEAN_COLUMNS
from results.analysis.table import Table, tables
from results.leaderboard.source import Opened
from results.leaderboard.values.contamination import in_training
from results.leaderboard.view import View
from results.record import Run
from results.reports.sheets.printing import Printing
from results.reports.sheets.shown import AVERAGES, without_idle_averages

CELLS = 200
"""A page takes on tables until it has so many cells: each brings about 1.5 kB."""


@dataclass(frozen=True)
class Found:
    """All tables of a group on some backbones, under a policy of recipes."""

    tables: tuple[Table, ...]
    whole: tuple[Table, ...]
    """The same with averages that repeat a benchmark, as data have them."""
    clean: bool
    """Whether they average over the test rows that are not in the training set, too."""
    runs: Mapping[str, Run]
    """The newest attempt at each run, by id."""

    def __len__(self) -> int:
        """Count the runs."""
        return len(self.runs)


def found(opened: Opened, view: View) -> Found:
    """Make the tables of a view that is completed, or give those that were made before.

    Raises:
        ResultsError: There is no such group or backbone.
    """
    if not view.group:
        return Found((), (), clean=False, runs={})
    kept, key = opened.source.kept.tables, (view.group, view.backbones, view.recipes)
    made: Found = kept.get(key, lambda: opened.stamp(view), lambda: _made(opened, view))
    return made


def _made(opened: Opened, view: View) -> Found:
    runs = opened.runs(view)
    clean = any(map(in_training, ([run] for run in runs)))
    made = tables(
        runs,
        clean=clean,
        own_recipes=view.recipes != "shared",
        choose=view.recipes == "validation",
        testing=opened.testing,
    )
    return Found(
        tables=tuple(without_idle_averages(table, Printing()) for table in made),
        whole=tuple(made),
        clean=clean,
        runs={run.run_id: run for run in reversed(runs)},
    )


def divided(tables: Iterable[Table]) -> list[list[Table]]:
    """Divide tables among pages; there is always a first one.

    >>> divided([])
    [[]]
    """
    pages: list[list[Table]] = [[]]
    for table in tables:
        if sum(map(_cells, pages[-1])) >= CELLS:
            pages.append([])
        pages[-1].append(table)
    return pages


def _cells(table: Table) -> int:
    return sum(len(row.cells) for block in table.blocks for row in block.rows)


def passes(table: Table, view: View) -> bool:
    """Say whether a table is of the protocol and the era of a view."""
    protocol = view.protocol in ("", table.conditions.protocol)
    return protocol and table.conditions.environment_id.startswith(view.era)


def ordered(table: Table) -> tuple[str, ...]:
    """Put averages before benchmarks, so that a narrow page begins with them.

    They come in the order of the table, clean ones behind the others.
    """
    first = (*AVERAGES, *CLEAN_COLUMNS)
    averages = [name for name in table.columns if name in first]
    return (*averages, *(name for name in table.columns if name not in first))
