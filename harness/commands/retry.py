"""`harness retry`: runs that failed, again, as they were planned."""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path

from harness import plugins
from harness.commands.one_run import named
from harness.commands.reindex import check_root
from harness.commands.report import Report
from harness.commands.run import summed_up
from harness.commands.started import Opened
from harness.commands.telling import telling
from harness.errors import UserError
from harness.gpus import Device
from harness.plugins import named_files
from harness.scheduling import schedule
from harness.scheduling.policy import Policy
from harness.scheduling.resources import Resources
from harness.spec.planned import PlannedRun
from results.runfolder import wishes
from results.runfolder.folder import RunFolder, RunFolderError
from results.runfolder.record_of import folders
from results.store import Store, database


def retry(store_place: str, runs: Sequence[str], root: Path, opened: Opened) -> Report:
    """Run runs again that failed, an exception too; all that failed below `root` if none is named.

    Raises:
        UserError: A run came to its end, a file of the user's own is not what it was, only some
            were planned for GPUs, or there is no folder `root`.
    """
    found = [named.below(root, store_place, run) for run in runs] if runs else _failed(root)
    planned: dict[Path, list[PlannedRun]] = defaultdict(list)
    for folder in found:
        planned[folder.path.parent.resolve()].append(_planned(folder))
    if not planned:
        return Report("No run has failed.", {})
    opened.resources = _as_planned(opened.resources, [*chain(*planned.values())])
    store, texts, sound = Store(store_place), [], True
    for place, several in planned.items():
        with telling(store, store_place, place):
            summary = schedule.run(
                several, store, place, opened.executor, Policy(repeat=True), opened.leaves
            )
        texts.append(summed_up(summary, database.name(store_place)))
        sound &= summary.sound
    return Report("\n".join(texts), {}, sound)


def _as_planned(asked: Resources, runs: Sequence[PlannedRun]) -> Resources:
    """Take the GPUs for which the runs were planned, and none for others."""
    if others := [run.spec.run_id for run in runs if run.gpu != runs[0].gpu]:
        first, second = ("GPUs", "CPUs") if runs[0].gpu else ("CPUs", "GPUs")
        raise UserError(
            f"{len(runs) - len(others)} of these runs were planned for {first} and "
            f"{len(others)} for {second}. Please name those for {second} in another command:\n  "
            + " ".join(others)
        )
    most = max(run.spec.train.processes for run in runs)
    device: Device = "gpu" if runs[0].gpu else "cpu"
    return replace(asked, gpus_per_run=most, device=device)


def _failed(root: Path) -> list[RunFolder]:
    check_root(root)
    return [one for one in folders(root) if _has_failed(one)]


def _has_failed(folder: RunFolder) -> bool:
    with suppress(OSError, RunFolderError):  # `harness reindex` names what cannot be read
        return folder.failed and not folder.ended and wishes.forgotten(folder) is None
    return False


def _planned(folder: RunFolder) -> PlannedRun:
    """Read the planned run of a folder that has not come to its end."""
    run_id = folder.head().run_id
    if folder.ended:
        what = "finished" if folder.finished else "diverged, as it would again"
        raise UserError(
            f"{run_id} {what}.\n  `harness rerun {run_id}` runs its spec again and compares."
        )
    planned = PlannedRun.of(folder)
    for file in planned.files:
        named_files.check(file.texts)
        plugins.add(file.kind, Path(file.path))
    return planned
