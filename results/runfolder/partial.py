"""A file that grows while a run works, so that the next attempt takes up what is in it.

Each line holds a record and its checksum: one that was cut short or changed counts for nothing, and
all others count.
"""

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Generic, Self, TypeVar
from zlib import crc32

from results.runfolder import files
from results.runfolder.values import FileValue, PartialAnswer

V = TypeVar("V", bound=FileValue)

SYNCED = 5.0
"""Seconds after which what was appended is on the disk, whatever becomes of the machine."""

MIDDLE = b',"record":'


class Partial(Generic[V]):
    """Appends records to the file at `path`.

    Attributes:
        found: The records of earlier attempts, in their order.
    """

    def __init__(self, path: Path, kind: type[V]) -> None:
        kept = [line for line in _lines(path) if _is_whole(line)]
        self.found = [kind.model_validate_json(_record(line)) for line in kept]
        if path.is_file():
            files.write_bytes(path, b"".join(kept))
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab")
        self._synced = time.monotonic()

    def append(self, records: Iterable[V]) -> None:
        """Add records: they outlive this process from now on, and the machine in a few seconds."""
        self._file.write(b"".join(map(_line, records)))
        self._file.flush()
        if time.monotonic() - self._synced > SYNCED:
            self._sync()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._sync()
        self._file.close()

    def _sync(self) -> None:
        os.fsync(self._file.fileno())
        self._synced = time.monotonic()


def answers(folder: Path, benchmark: str) -> Partial[PartialAnswer]:
    """Open the answers to a benchmark as far as they are written."""
    return Partial(_path(folder, "generations", benchmark), PartialAnswer)


def likelihoods(folder: Path, benchmark: str, kind: type[V]) -> Partial[V]:
    """Open the likelihoods of a benchmark as far as they are taken, each a value of `kind`."""
    return Partial(_path(folder, "likelihoods", benchmark), kind)


def drop(folder: Path, kind: str, benchmark: str) -> None:
    """Remove the records of a benchmark, now that all are in one file of the folder `kind`."""
    _path(folder, kind, benchmark).unlink(missing_ok=True)


def damaged(path: Path) -> int:
    """Count the lines that hold no record and are not the end of a file that is still written."""
    return sum(not _is_whole(line) for line in _lines(path) if line.endswith(b"\n"))


def _path(folder: Path, kind: str, benchmark: str) -> Path:
    return folder / kind / f"{benchmark}.partial.jsonl"


def _lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True) if path.is_file() else []


def _line(record: FileValue) -> bytes:
    text = record.model_dump_json().encode()
    return b'{"crc32":%d%b%b}\n' % (crc32(text), MIDDLE, text)


def _is_whole(line: bytes) -> bool:
    return line == b'{"crc32":%d%b%b}\n' % (crc32(_record(line)), MIDDLE, _record(line))


def _record(line: bytes) -> bytes:
    return line.partition(MIDDLE)[2][:-2]
