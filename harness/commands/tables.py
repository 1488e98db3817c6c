"""`harness table`, `compare` and `history`: what the store says of many runs."""

from harness.commands.report import Report
from harness.errors import UserError
from results import comparison, formats, spread
from results import history as histories
from results.record import Run
from results.store import Reader
from results.table import tables


def table(store_place: str, group: str | None, name: str, *, clean: bool, own_recipes: bool) -> str:
    """Render the tables of all finished runs in the format `name`."""
    found = tables(_runs(store_place, group), clean=clean, own_recipes=own_recipes)
    if not found and name != "json":
        which = f"run of {group!r}" if group else "run"
        raise UserError(f"No finished {which} in {store_place}. `harness history` lists all runs.")
    return formats.render(found, name)


def extractors(store_place: str, group: str | None) -> Report:
    """Show what each extractor makes of the answers of all finished runs."""
    found = spread.spread(_runs(store_place, group))
    if not found:
        raise UserError(f"No finished run in {store_place} has answers that are extracted.")
    return Report(spread.markdown(found), found)


def compare(
    store_place: str, group: str | None, first: str, second: str, *, own_recipes: bool
) -> Report:
    """Compare two methods: differences, their intervals, Welch's test."""
    found = comparison.compare(_runs(store_place, group), first, second, own_recipes=own_recipes)
    return Report(comparison.markdown(found), found)


def history(
    store_place: str, group: str | None, method: str | None, backbone: str | None
) -> Report:
    """List every run ever stored, newest first."""
    chosen = {"groups": group, "methods": method, "backbones": backbone}
    filters = {name: [value] for name, value in chosen.items() if value}
    entries = histories.history(Reader(store_place).runs(**filters))
    return Report(histories.markdown(entries), entries)


def _runs(store_place: str, group: str | None) -> list[Run]:
    return Reader(store_place).runs(groups=[group] if group else [])
