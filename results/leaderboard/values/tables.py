"""The tables that a view looks at, before it hides any of them."""

from collections.abc import Mapping
from dataclasses import dataclass

from results.analysis.table import Table, tables
from results.leaderboard.source import Opened
from results.leaderboard.values.contamination import in_training
from results.leaderboard.view import View
from results.record import Run
from results.reports.sheets.printing import Printing
from results.reports.sheets.shown import without_idle_averages


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


def found(opened: Opened, view: View) -> Found:
    """Make the tables of a view that is completed.

    Raises:
        ResultsError: There is no such group or backbone.
    """
    runs = opened.runs(view) if view.group else []
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


def passes(table: Table, view: View) -> bool:
    """Say whether a table is of the protocol and the era of a view."""
    protocol = view.protocol in ("", table.conditions.protocol)
    return protocol and table.conditions.environment_id.startswith(view.era)
