"""`harness rerun`: the exact spec of a stored run again, compared with it item by item."""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import ValidationError

from harness import backbones, plugins
from harness.commands.one_run import named
from harness.commands.one_run.copies import with_copies
from harness.commands.one_run.items import read
from harness.commands.report import Report
from harness.errors import UserError, unknown
from harness.planning.faults import Faults
from harness.plugins import named_files
from harness.plugins.source import changed
from harness.printed import say
from harness.scheduling import schedule
from harness.scheduling.executors.local import LocalExecutor
from harness.scheduling.slots import Slot, local_slots, visible_gpus
from harness.spec.planned import PlannedRun
from harness.spec.spec import MethodSpec
from harness.worker import rows
from results.analysis.items import Agreement, Rerun, agreement, pairs, score_pairs
from results.reports.one_run.rerun import markdown
from results.runfolder.folder import RunFolder
from results.runfolder.values import Environment
from results.store import Store
from results.texts import brief

INTERRUPTED = 130


def rerun(store_place: str, run: str, keep: Path | None) -> Report:
    """Run the spec of a stored run in a new folder, and compare the two.

    Args:
        store_place: The store, which says where the run folder is; nothing is written to it.
        run: The first digits of an id, or a run folder.
        keep: The folder below which the new run folder is kept; it is removed if None.

    Raises:
        UserError: The run cannot be made again: something that it needs is no longer what it was.
    """
    before = named.folder(store_place, run)
    planned = _planned(before)
    kept = None if keep is None else keep / planned.spec.run_id
    if kept and kept.exists():
        raise UserError(f"{kept} is there already. Name another folder with --keep.")
    parent = (keep or before.path.parent).resolve()
    parent.mkdir(parents=True, exist_ok=True)
    try:
        with TemporaryDirectory(dir=parent, prefix=f".rerun-{planned.spec.run_id}-") as room:
            planned = _checked(with_copies(planned, before, Path(room)))
            after = _run(planned, before.environment(), Path(room))
            found = _compared(planned, before, after, kept)
            if kept:
                after.path.rename(kept)
    except KeyboardInterrupt:
        say("Interrupted. Nothing of the rerun is kept.", err=True)
        sys.exit(INTERRUPTED)
    return Report(markdown(found), found, found.same)


def _planned(folder: RunFolder) -> PlannedRun:
    """Read the planned run of a finished folder."""
    if folder.format == 1:
        raise UserError(
            f"{folder.path}: written in format 1, by a version with other specs. "
            "Run its command again."
        )
    if folder.diverged:
        raise UserError(
            f"{folder.path}: the training diverged, so there are no answers to compare. "
            f"`harness show {folder.path}` says where."
        )
    if not folder.finished:
        raise UserError(
            f"{folder.path}: the run did not finish, so there is nothing to compare with. "
            "Its `harness run` command goes on with it."
        )
    try:
        planned = PlannedRun.of(folder)
    except ValidationError as error:
        raise UserError(
            f"{folder.path}: another version of the harness wrote its spec: {error}"
        ) from error
    if planned.spec.run_id != folder.head().run_id:
        raise UserError(f"{folder.path}: spec.json is not the spec of {folder.head().run_id}.")
    return _here(planned.model_copy(update={"track": None}))


def _checked(planned: PlannedRun) -> PlannedRun:
    """Check that all that a run needs is what it was."""
    for file in planned.files:
        named_files.check(file.texts)
        plugins.add(file.kind, Path(file.path))
    faults = Faults()
    faults.of(lambda: _same_method(planned.spec.method))
    faults.of(lambda: _same_backbone(planned))
    faults.of(lambda: _same_data(planned))
    faults.raise_if_any()
    return planned


def _here(planned: PlannedRun) -> PlannedRun:
    """Find `tiny` in this installation; everything else lies where it lay."""
    if planned.spec.backbone.name != "tiny" or Path(planned.backbone_place).is_dir():
        return planned
    return planned.model_copy(update={"backbone_place": str(backbones.TINY)})


def _same_method(method: MethodSpec) -> None:
    """Refuse a method whose source is another one than that of the run."""
    plugins.method(method.name)
    if fault := changed(method):
        raise UserError(f"{fault} Check out the commit of the run.")


def _same_data(planned: PlannedRun) -> None:
    """Refuse where group, benchmark or rows are no longer those of the run."""
    plugins.group(planned.spec.group)
    for name in planned.spec.tests:
        if name not in plugins.names("tasks"):
            raise UserError(unknown("benchmark", name, plugins.names("tasks")))
    rows.load(planned)


def _same_backbone(planned: PlannedRun) -> None:
    """Refuse a folder with another content; a repository of the hub is pinned by its commit."""
    backbone, place = planned.spec.backbone, Path(planned.backbone_place)
    if not place.is_absolute():
        return
    if not place.is_dir():
        raise UserError(f"{place}: the backbone's folder is gone.")
    now = backbones.locate(str(place)).backbone.revision
    if now != backbone.revision:
        raise UserError(
            f"{place}: the backbone has changed since: its hash is {now}, that of the run is "
            f"{backbone.revision}."
        )


def _run(planned: PlannedRun, environment: Environment | None, room: Path) -> RunFolder:
    """Run a planned run below `room`, with as many threads as before.

    Raises:
        UserError: It failed.
    """
    gpus = visible_gpus()
    threads = None if gpus or environment is None else environment.machine.get("threads")
    slots = local_slots(1, gpus, gpus_per_run=planned.spec.train.processes)
    slot = slots[0] if gpus else Slot(threads=threads)
    store = Store(room / "rerun.db")  # of its own: the rerun is no attempt of the user's store
    with LocalExecutor([slot]) as executor:
        schedule.run([planned], store, room, executor)
    folder = RunFolder(room / planned.spec.run_id)
    failure = folder.failure()
    if failure:
        raise UserError(f"The rerun failed: {brief(failure.reason)}\n{folder.end_of_log()}")
    return folder


def _compared(planned: PlannedRun, before: RunFolder, after: RunFolder, kept: Path | None) -> Rerun:
    first, second = before.result(), after.result()
    assert first
    assert second
    return Rerun(
        run_id=planned.spec.run_id,
        title=planned.name,
        agreements=tuple(_agreement(name, before, after) for name in planned.spec.tests),
        scores=score_pairs(first.scores, second.scores),
        environment=_differences(before.environment(), after.environment()),
        adapter_equal=_adapters_equal(before, after),
        folder="" if kept is None else str(kept),
    )


def _agreement(name: str, before: RunFolder, after: RunFolder) -> Agreement:
    return agreement(name, pairs(read(before, name), read(after, name)))


def _differences(
    before: Environment | None, after: Environment | None
) -> dict[str, tuple[object, object]]:
    first, second = (one.facts if one else {} for one in (before, after))
    return {
        name: (first.get(name), second.get(name))
        for name in first | second
        if first.get(name) != second.get(name)
    }


def _adapters_equal(before: RunFolder, after: RunFolder) -> bool | None:
    files = [folder.adapter / "adapter_model.safetensors" for folder in (before, after)]
    if not all(file.exists() for file in files):
        return None
    first, second = (file.read_bytes() for file in files)
    return first == second
