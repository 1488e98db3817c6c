"""`harness history`: every run ever stored."""

from harness.commands.report import Report
from harness.commands.stored import runs
from results.analysis import history as analysis
from results.reports import history as report


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
    entries = analysis.history(runs(store_place, tasks, method, [backbone] if backbone else []))
    return Report(report.markdown(entries, wide=wide, costs=costs), entries)
