"""Setting a damaged file aside: it stays in the run folder, below `damaged`, under its own name."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from results.runfolder import files

NAME = "damaged"

STARTED = ("spec.json", "places.json", "run.json", "lock", "log.txt", "failure.json")
"""What is written, opened or removed before a worker has the folder."""


def set_aside(folder: Path, name: str) -> str:
    """Move what has this name in a run folder, be it a file or not, to where nothing reads it.

    Returns:
        Its new name.
    """
    place = _free(folder, name)
    (folder / name).rename(place)
    return str(place.relative_to(folder))


def copy(folder: Path, name: str) -> str:
    """Copy a file to where damaged ones are set aside; return the name of the copy."""
    place = _free(folder, name)
    shutil.copy2(folder / name, place)
    return str(place.relative_to(folder))


def listed(folder: Path) -> list[str]:
    """Name the files that were set aside, with their place below the run folder."""
    found = sorted((folder / NAME).rglob("*"))
    return [str(path.relative_to(folder)) for path in found if not path.is_dir()]


def irregular(folder: Path, names: Iterable[str]) -> list[str]:
    """List the names under which there is something else than a file, such as a folder."""
    paths = {name: folder / name for name in names}
    return [
        name
        for name, path in paths.items()
        if (path.exists() or path.is_symlink()) and not path.is_file()
    ]


def make_way(folder: Path) -> None:
    """Set aside what keeps a run from being started again; its first files are written again."""
    for name in irregular(folder, STARTED):
        set_aside(folder, name)
    head = folder / "run.json"
    if head.is_file():
        try:
            with files.naming(head):
                int(files.read_object(head)["format"])
        except files.RunFolderError:
            set_aside(folder, head.name)


def _free(folder: Path, name: str) -> Path:
    number = 1
    while (folder / NAME / str(number) / name).exists():
        number += 1
    place = folder / NAME / str(number) / name
    place.parent.mkdir(parents=True, exist_ok=True)
    return place
