"""The folder of a run before it starts: its first files, and how large its micro-batch is."""

from contextlib import suppress

from harness import plugins
from harness.plugins import named_files
from harness.spec.planned import PlannedRun
from harness.spec.recipe import micro_batch
from results.runfolder.folder import AlreadyRunningError, RunFolder, RunFolderError
from results.runfolder.record_of import record_of
from results.runfolder.verdicts_of import verdicts_of


def prepare(folder: RunFolder, planned: PlannedRun) -> PlannedRun:
    """Write the first files of a run and drop its failure; return the run as it is written.

    Raises:
        AlreadyRunningError: Another process of this machine works in the folder, or has brought
            the run to its end.
    """
    folder.path.mkdir(parents=True, exist_ok=True)
    with folder.locked():
        if _ended(folder):
            raise AlreadyRunningError(f"another process has ended the run in {folder.path}")
        planned = _as_before(folder, planned)
        folder.create(*planned.kept)
        folder.copy(_as_planned(planned))
    return planned


def _ended(folder: RunFolder) -> bool:
    """Whether a run has come to its end, and all that is stored of it can be read."""
    with suppress(RunFolderError):
        return folder.ended and record_of(folder) is not None and verdicts_of(folder) is not None
    return False


def _as_planned(planned: PlannedRun) -> dict[str, str]:
    """Leave out files of the user's that have changed since: the worker refuses their runs."""
    changed = {path for file in planned.files for path in named_files.changed(file.texts)}
    return {path: copy for path, copy in planned.copies.items() if path not in changed}


def _as_before(folder: RunFolder, planned: PlannedRun) -> PlannedRun:
    """Take over how often an earlier attempt had to halve the micro-batch."""
    before = 0
    if (folder.path / "places.json").is_file():
        with suppress(RunFolderError):  # it is damaged, and written again
            before = int(folder.places().get("memory", {}).get("halvings", 0))
    return with_halvings(planned, max(before, planned.memory.halvings))


def with_halvings(planned: PlannedRun, halvings: int) -> PlannedRun:
    """Halve the rows of a forward pass so often; the rows of a step stay."""
    memory = planned.memory.model_copy(update={"halvings": halvings})
    return planned.model_copy(update={"memory": memory})


def halvable(planned: PlannedRun) -> bool:
    """Whether fewer rows a pass change no more than the order of a sum, and there are fewer.

    Dropout would draw other numbers; and some methods look at all rows of a pass together.
    """
    recipe, halvings = planned.spec.train, planned.memory.halvings
    steps = recipe.batch_size * recipe.accumulation_steps
    most = recipe.model_copy(update={"batch_size": steps}) if recipe.packed else recipe
    method = planned.spec.method
    drops = any("dropout" in name and value for name, value in method.fields.items())
    return (
        micro_batch(most, halvings) > 1 and not drops and not plugins.method(method.name).unpacked
    )
