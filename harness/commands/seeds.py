"""`harness seeds plan`: how many seeds a comparison needs, from the spread in the store."""

from harness.commands.report import Report
from harness.commands.stored import runs, without_path
from harness.commands.testing import in_store, require_points
from harness.errors import UserError
from results.analysis import planning as analysis
from results.analysis.runs.eras import pooled
from results.analysis.runs.selection import split_names
from results.analysis.testing.tests import DEFAULT
from results.reports import planning as report
from results.store import database


def plan(
    store_place: str, tasks: str | None, delta: float, methods: str, *, pool_eras: bool = False
) -> Report:
    """Say how many seeds or items a difference needs, from the spread of what is stored.

    Raises:
        UserError: The difference is not above 0, or no trained method has finished runs.
    """
    require_points("delta", delta)
    names = list(map(without_path, split_names(methods)))
    found = runs(store_place, tasks)
    plans = analysis.plan(
        pooled(found) if pool_eras else found, names, delta, in_store(DEFAULT, store_place)
    )
    if not plans:
        name = database.name(store_place)
        raise UserError(f"No trained method has finished runs in {name}.")
    return Report(report.markdown(plans), plans)
