"""What users ask of a run from outside, as files of its folder: any process that sees it can.

`cancel` is empty: the run at work stops at its next beat, and nothing starts it while it lies
there. `forgotten.json` says why a run is left out of tables; it stays for good.
"""

import time

from results.runfolder import files
from results.runfolder.folder import RunFolder
from results.runfolder.values import FileValue


class Forgotten(FileValue):
    """Why the user left a run out of all tables."""

    time: float
    """When, in seconds since the epoch."""
    reason: str
    """In the words of the user."""


def cancel(folder: RunFolder) -> None:
    """Ask that the run stops, or does not start, until `go_on`."""
    files.write(folder.path / "cancel", "")


def is_cancelled(folder: RunFolder) -> bool:
    """Whether the run is asked to stop."""
    return (folder.path / "cancel").exists()


def go_on(folder: RunFolder) -> None:
    """Take back that the run is to stop."""
    (folder.path / "cancel").unlink(missing_ok=True)


def forget(folder: RunFolder, reason: str) -> None:
    """Leave the run out of all tables."""
    value = Forgotten(time=time.time(), reason=reason)
    files.write(folder.path / "forgotten.json", value.model_dump_json(indent=2) + "\n")


def forgotten(folder: RunFolder) -> Forgotten | None:
    """Read why the run was left out; None if it is not."""
    path = folder.path / "forgotten.json"
    if not path.is_file():
        return None
    with files.naming(path):
        return Forgotten.model_validate_json(files.read(path))
