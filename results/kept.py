"""Values that took long, kept as files in the user's cache folder.

An entry is named by the hash of all that its value depends on, so that none is ever out of date.
The folder may be deleted at any time.
"""

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

MOST = 512
"""Entries of a shelf; beyond it, those that were not used for longest go."""

YOUNG = 2.0
"""Seconds; a file system may give two changes within them the same time."""

RESULTS = Path(__file__).parent


@dataclass(frozen=True)
class Shelf:
    """A folder of entries, and the folders and files of code that compute them."""

    name: str
    rooms: tuple[Path, ...]


ANALYSES = Shelf("analyses", (RESULTS / "statistics", RESULTS / "analysis"))


def kept(key: Any, compute: Callable[[], Any], shelf: Shelf = ANALYSES) -> Any:
    """Give the value that was computed before under `key`, or compute it now and keep it.

    An entry is a line of JSON behind a line with its hash; a damaged one is recomputed. Where no
    file can be written, nothing is kept.

    Args:
        key: All that the value depends on but the code, such as the verdicts of runs and the name
            of a test: a JSON value, in which there may be bytes too.
        compute: Gives a JSON value; tuples come back as lists.
        shelf: Where it is kept.
    """
    path = _folder() / shelf.name / f"{_hash(key, shelf)}.json"
    with suppress(OSError, ValueError):
        told, _, text = path.read_text().partition("\n")
        if told == _digest(text):
            path.touch()
            return json.loads(text)
    text = json.dumps(compute())
    with suppress(OSError):
        _write(path, f"{_digest(text)}\n{text}")
        _limit(path.parent)
    return json.loads(text)


def stamp(path: Path) -> tuple[str | int, ...] | None:
    """Say of which state a file is; equal to an earlier answer only where it was not changed since.

    A file counts as unchanged while device, inode, size and both times of change stay. The last
    one, of the inode, is set by the system at each change and by no program. None where it changed
    a moment ago, since it could change again within one tick of the clock, or is not there.
    """
    try:
        at = path.stat()
    except OSError:
        return None
    if time.time() - at.st_ctime < YOUNG:
        return None
    return str(path), at.st_dev, at.st_ino, at.st_size, at.st_mtime_ns, at.st_ctime_ns


def _folder() -> Path:
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "peft-proving-ground"


def _hash(key: Any, shelf: Shelf) -> str:
    return _digest(json.dumps([_code(shelf), key], sort_keys=True, default=bytes.hex))


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


@cache
def _code(shelf: Shelf) -> str:
    rooms = [[room] if room.is_file() else sorted(room.rglob("*.py")) for room in shelf.rooms]
    files = [file for room in rooms for file in room]
    return sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def _write(path: Path, text: str) -> None:
    """Write an entry under another name first: a reader finds it whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(f".{uuid4().hex}")
    partial.write_text(text)
    partial.replace(path)


def _limit(folder: Path) -> None:
    """Remove the entries that were not used for longest."""
    newest_first = sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in newest_first[MOST:]:
        path.unlink(missing_ok=True)
