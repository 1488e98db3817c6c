"""`harness show`: one run, on one screen or in full."""

from pathlib import Path

from harness.commands import named
from harness.commands.report import Report
from results.reports.one_run.run import markdown
from results.reports.one_run.screen import screen
from results.runfolder.folder import RunFolder


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
    return Report(markdown(run, training) + end, run)
