"""`harness show`: one run, on one screen or in full."""

from contextlib import suppress
from pathlib import Path

from harness.commands.one_run import named
from harness.commands.report import Report
from harness.spec.planned import own_files
from results.reports.one_run.run import markdown
from results.reports.one_run.screen import screen
from results.runfolder.folder import RunFolder, RunFolderError


def show(store_place: str, name: str, *, in_full: bool = False) -> Report:
    """Show a run; of a failed one the end of its log too."""
    run = named.record(store_place, name)
    folder = RunFolder(Path(run.folder))
    log = folder.end_of_log() if run.status == "failed" else ""
    record = folder.train_record()
    training = record.model_dump(exclude={"peak_memory"}, exclude_none=True) if record else {}
    if not in_full:
        return Report(screen(run, log, training), run)
    end = f"\n\n## End of {folder.log}\n\n{log}" if log else ""
    return Report(markdown(run, training, _own_files(folder)) + end, run)


def _own_files(folder: RunFolder) -> dict[str, str]:
    """Name the files that were given by path, each with its copy; none where the folder is gone."""
    with suppress(RunFolderError):
        return {
            path: str(place) if (place := folder.copies / copy).is_file() else "none"
            for file in own_files(folder)
            for path, copy in file.copies.items()
        }
    return {}
