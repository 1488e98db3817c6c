"""`harness table`, `compare` and `history`: what the store holds about many runs."""

import sys
from collections.abc import Sequence
from dataclasses import replace

from harness.commands.report import Report
from harness.errors import UserError
from harness.plugins.titles import titles
from results.analysis import extractors as extractor_analysis
from results.analysis import history as history_analysis
from results.analysis import pairwise as pairwise_analysis
from results.analysis.runs.selection import select, split_names
from results.analysis.table import Table, tables
from results.record import Run
from results.reports import extractors as extractor_report
from results.reports import formats
from results.reports import history as history_report
from results.reports import pairwise as pairwise_report
from results.reports.layout import Layout
from results.store import Reader


def table(store_place: str, tasks: str | None, name: str, layout: Layout, **choices: bool) -> str:
    """Render the tables of all runs in the format `name`.

    Args:
        store_place: The store.
        tasks: Groups and benchmarks; all without.
        name: The format.
        layout: What of the tables is printed.
        choices: `clean`, `own_recipes` and `choose` of `results.analysis.table.tables`.

    Raises:
        UserError: There is nothing to show.
    """
    if layout.runs and name == "latex":
        raise UserError("--runs lists run ids, which no paper prints: take markdown, csv or json.")
    if name == "json":
        found = compared(tables(_runs(store_place, tasks), **choices))
    else:
        found = of_finished(store_place, tasks, **choices)
    if name == "latex":
        layout = replace(layout, titles=titles(found))
    return formats.render(found, name, layout)


def of_finished(store_place: str, tasks: str | None, **choices: bool) -> list[Table]:
    """Make the tables of all runs.

    Raises:
        UserError: There is none, or none that may be compared.
    """
    found = tables(_runs(store_place, tasks), **choices)
    if not found:
        which = f"run of {tasks!r}" if tasks else "run"
        raise UserError(f"No finished {which} in {store_place}. `harness history` lists all runs.")
    if all(table.refusal for table in found):
        raise UserError("\n".join(dict.fromkeys(table.refusal for table in found)))
    return compared(found)


def compared(found: Sequence[Table]) -> list[Table]:
    """Leave out the tables that were refused, and say why."""
    for refusal in dict.fromkeys(table.refusal for table in found if table.refusal):
        print(f"left out: {refusal}", file=sys.stderr)
    return [table for table in found if not table.refusal]


def extractors(store_place: str, tasks: str | None) -> Report:
    """Show how the scores of all finished runs depend on the extractor."""
    effects = extractor_analysis.extractor_effects(_runs(store_place, tasks))
    if not effects:
        raise UserError(f"No finished run in {store_place} has answers that are extracted.")
    return Report(extractor_report.markdown(effects), effects)


def compare(
    store_place: str, tasks: str | None, first: str, second: str, *, own_recipes: bool
) -> Report:
    """Compare two methods: differences, their intervals, Welch's test."""
    runs = _runs(store_place, tasks)
    comparisons = pairwise_analysis.compare(runs, first, second, own_recipes=own_recipes)
    return Report(pairwise_report.markdown(comparisons), comparisons)


def history(
    store_place: str,
    tasks: str | None,
    method: str | None,
    backbone: str | None,
    *,
    wide: bool = False,
    costs: bool = False,
) -> Report:
    """List every run ever stored, newest first."""
    runs = _runs(store_place, tasks, method, backbone)
    entries = history_analysis.history(runs)
    return Report(history_report.markdown(entries, wide=wide, costs=costs), entries)


def _runs(
    store_place: str, tasks: str | None, method: str | None = None, backbone: str | None = None
) -> list[Run]:
    runs = Reader(store_place).runs()
    return select(runs, split_names(tasks or ""), _only(method), _only(backbone))


def _only(name: str | None) -> list[str]:
    return [name] if name else []
