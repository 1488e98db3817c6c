"""`harness diff`: two runs, in what they differ and what that did."""

from collections.abc import Mapping
from pathlib import Path

from harness.commands.one_run import items, named
from harness.commands.report import Report
from harness.errors import UserError
from results.analysis.difference import difference
from results.analysis.items import Pair, disagreeing
from results.record import Run, Verdicts
from results.reports.one_run import difference as report
from results.runfolder.folder import RunFolder, RunFolderError
from results.runfolder.verdicts_of import verdicts_of
from results.store import Reader


def diff(store_place: str, first: str, second: str) -> Report:
    """Compare two runs, each named by its id or its folder.

    Raises:
        UserError: A name is of no run that ended.
        ResultsError: There is no such store, or not one such run in it.
    """
    runs = named.record(store_place, first), named.record(store_place, second)
    judged = _verdicts(store_place, first, runs[0]), _verdicts(store_place, second, runs[1])
    flipped, notes = _items(runs)
    found = difference(runs, judged, flipped)
    return Report(report.markdown(found), found, notes=notes)


def _verdicts(store_place: str, name: str, run: Run) -> Mapping[str, Verdicts]:
    """Read the verdicts on a run from where the run was read: its folder, or the store."""
    if named.is_folder(Path(name)):
        return {one.benchmark: one for one in verdicts_of(RunFolder(Path(name)))}
    return Reader(store_place).verdicts([run]).get(run.run_id, {})


def _items(runs: tuple[Run, Run]) -> tuple[tuple[Pair, ...], list[str]]:
    """Read the items that flipped, or say why there are none to read."""
    first, second = (RunFolder(Path(run.folder)) for run in runs)
    try:
        return tuple(disagreeing(items.paired(first, second))), []
    except (UserError, RunFolderError) as error:
        return (), [f"the answers are not compared: {error}"]
