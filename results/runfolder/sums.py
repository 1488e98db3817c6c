"""The SHA-256 of files of a run folder, by which one that was changed later is known.

While a run works, `sha256.json` has them; from its end on, `result.json` has them too.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import TypeAdapter

from results.runfolder import files

NAME = "sha256.json"
RESULT = "result.json"

Sums = Mapping[str, str]
"""SHA-256 in hexadecimal by the name of the file below the run folder."""

SUMS = TypeAdapter(dict[str, str])


def read(folder: Path) -> dict[str, str]:
    """Read what was noted; nothing in folders of before it was.

    Raises:
        RunFolderError: The file is damaged.
    """
    path = folder / NAME
    if not path.is_file():
        return {}
    with files.naming(path):
        return SUMS.validate_json(files.read(path))


def note(folder: Path, names: Iterable[str]) -> None:
    """Note the sums of files that were just written."""
    write(folder, {**read(folder), **{name: of(folder / name) for name in names}})


def trained(folder: Path) -> list[str]:
    """Name the files that a training leaves, but for its record."""
    found = (*folder.glob("method.json"), *(folder / "adapter").rglob("*"))
    return [str(path.relative_to(folder)) for path in found if path.is_file()]


def write(folder: Path, sums: Sums) -> None:
    """Write what is noted from now on."""
    files.write(folder / NAME, json.dumps(sums, indent=2) + "\n")


def of(path: Path) -> str:
    """Hash a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def differs(folder: Path, name: str, sums: Sums) -> bool:
    """Say whether a file is not the one of which there is a sum; no where there is none."""
    return name in sums and (not (folder / name).is_file() or of(folder / name) != sums[name])
