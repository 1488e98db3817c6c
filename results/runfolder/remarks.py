"""What users wrote on a run, as a file of its folder, so that a new store has it too."""

from collections.abc import Sequence
from datetime import UTC, datetime

from results import record
from results.runfolder import files
from results.runfolder.folder import RunFolder
from results.runfolder.values import FileValue


class Note(FileValue):
    """A note on a run."""

    time: float
    """When it was written, in seconds since the epoch."""
    text: str
    """In the words of the user."""


class Remarks(FileValue):
    """The tags and the notes of a run."""

    tags: tuple[str, ...] = ()
    """Words by which the user finds it."""
    notes: tuple[Note, ...] = ()
    """The oldest first."""


def keep(folder: RunFolder, tags: Sequence[str], notes: Sequence[record.Note]) -> None:
    """Write what there is to say of a run, instead of what was written before."""
    told = tuple(Note(time=note.written.timestamp(), text=note.text) for note in notes)
    value = Remarks(tags=tuple(tags), notes=told)
    files.write(folder.path / "remarks.json", value.model_dump_json(indent=2) + "\n")


def kept(folder: RunFolder) -> tuple[tuple[str, ...], tuple[record.Note, ...]]:
    """Read the tags and the notes of a run.

    Raises:
        RunFolderError: The file is damaged.
    """
    path = folder.path / "remarks.json"
    if not path.is_file():
        return (), ()
    with files.naming(path):
        found = Remarks.model_validate_json(files.read(path))
    notes = (record.Note(datetime.fromtimestamp(one.time, UTC), one.text) for one in found.notes)
    return found.tags, tuple(notes)
