"""Setting a damaged file aside: it stays in the run folder, below `damaged`, under its own name."""

from pathlib import Path

NAME = "damaged"


def set_aside(folder: Path, name: str) -> None:
    """Move what has this name in a run folder, be it a file or not, to where nothing reads it."""
    place = _free(folder, name)
    place.parent.mkdir(parents=True, exist_ok=True)
    (folder / name).rename(place)


def listed(folder: Path) -> list[str]:
    """Name what was set aside, with its place below the run folder."""
    found = sorted((folder / NAME).rglob("*"))
    return [str(path.relative_to(folder)) for path in found if not path.is_dir()]


def _free(folder: Path, name: str) -> Path:
    number = 1
    while (place := folder / NAME / str(number) / name).exists() or place.is_symlink():
        number += 1
    return place
