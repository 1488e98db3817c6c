"""`harness show`: one run in full."""

from pathlib import Path

from harness.commands.report import Report
from results.reports.run import markdown
from results.runfolder.folder import RunFolder
from results.store import Reader


def show(store_place: str, prefix: str) -> Report:
    """Show a run; of a failed one the end of its log too."""
    run = Reader(store_place).run(prefix)
    text = markdown(run)
    if run.status == "failed":
        folder = RunFolder(Path(run.folder))
        text += f"\n\n## End of {folder.log}\n\n{folder.end_of_log()}"
    return Report(text, run)
