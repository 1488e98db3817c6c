"""`harness reindex`: the store rebuilt from the run folders."""

from pathlib import Path

from harness.commands.report import Report
from results.runfolder.folder import RunFolderError
from results.runfolder.record_of import folders, record_of
from results.store import Store


def reindex(store_place: str, root: Path) -> Report:
    """Add every run folder below `root` to the store; name each that cannot be read."""
    store, added, left_out = Store(store_place), 0, []
    for folder in folders(root):
        try:
            run = record_of(folder)
        except RunFolderError as error:
            left_out.append(f"{folder.path}: left out: {error}")
            continue
        if run:
            store.add(run)
            added += 1
    text = "\n".join([*left_out, f"{added} runs of {root} are in {store_place}."])
    return Report(text, {"added": added, "left_out": left_out}, not left_out)
