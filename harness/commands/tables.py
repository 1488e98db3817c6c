"""`harness table`, `compare` and `history`: what the store holds about many runs."""

from dataclasses import replace

from harness.commands.report import Report
from harness.commands.titles import titles
from harness.errors import UserError
from results.analysis import extractors as extractor_analysis
from results.analysis import history as history_analysis
from results.analysis import pairwise as pairwise_analysis
from results.analysis.table import Table, tables
from results.record import Run
from results.reports import extractors as extractor_report
from results.reports import formats
from results.reports import history as history_report
from results.reports import pairwise as pairwise_report
from results.reports.layout import Layout
from results.store import Reader


def table(
    store_place: str,
    group: str | None,
    name: str,
    layout: Layout,
    *,
    clean: bool,
    own_recipes: bool,
) -> str:
    """Render the tables of all finished runs in the format `name`."""
    if name == "json":
        found = tables(_runs(store_place, group), clean=clean, own_recipes=own_recipes)
    else:
        found = of_finished(store_place, group, clean=clean, own_recipes=own_recipes)
    if name == "latex":
        layout = replace(layout, titles=titles(found))
    return formats.render(found, name, layout)


def of_finished(
    store_place: str, group: str | None, *, clean: bool, own_recipes: bool
) -> list[Table]:
    """Make the tables of all finished runs.

    Raises:
        UserError: There is none.
    """
    found = tables(_runs(store_place, group), clean=clean, own_recipes=own_recipes)
    if not found:
        which = f"run of {group!r}" if group else "run"
        raise UserError(f"No finished {which} in {store_place}. `harness history` lists all runs.")
    return found


def extractors(store_place: str, group: str | None) -> Report:
    """Show how the scores of all finished runs depend on the extractor."""
    effects = extractor_analysis.extractor_effects(_runs(store_place, group))
    if not effects:
        raise UserError(f"No finished run in {store_place} has answers that are extracted.")
    return Report(extractor_report.markdown(effects), effects)


def compare(
    store_place: str, group: str | None, first: str, second: str, *, own_recipes: bool
) -> Report:
    """Compare two methods: differences, their intervals, Welch's test."""
    runs = _runs(store_place, group)
    comparisons = pairwise_analysis.compare(runs, first, second, own_recipes=own_recipes)
    return Report(pairwise_report.markdown(comparisons), comparisons)


def history(
    store_place: str, group: str | None, method: str | None, backbone: str | None, *, wide: bool
) -> Report:
    """List every run ever stored, newest first."""
    runs = Reader(store_place).runs(
        groups=_only(group), methods=_only(method), backbones=_only(backbone)
    )
    entries = history_analysis.history(runs)
    return Report(history_report.markdown(entries, wide=wide), entries)


def _runs(store_place: str, group: str | None) -> list[Run]:
    return Reader(store_place).runs(groups=_only(group))


def _only(name: str | None) -> list[str]:
    return [name] if name else []
