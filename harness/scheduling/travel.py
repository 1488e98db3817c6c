"""Run folders between machines that share no disk: what changed in one goes into its copy."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from results.runfolder import files, locks

LEFT = "lock"
"""Stays where it is: it says who works on that machine."""

GROWING = (".jsonl", ".txt")
"""Files of these names may be appended to."""

PLACE = "harness-run-"
"""Begins the names of the folders that hold copies on another machine."""


@dataclass(frozen=True)
class Changes:
    """What happened to the files of a folder; paths are relative to it.

    Attributes:
        written: The content of files that are new or were replaced.
        grown: Of files that were appended to, where the new part begins, and that part.
        gone: Files that were removed.
    """

    written: dict[str, bytes] = field(default_factory=dict)
    grown: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    gone: tuple[str, ...] = ()

    def apply(self, folder: Path) -> None:
        """Do the same to a copy; each file is whole at every moment, or not there.

        A file that grew and was removed from the copy stays removed.
        """
        for name, content in self.written.items():
            files.write_bytes(folder / name, content)
        for name, (start, content) in self.grown.items():
            with suppress(FileNotFoundError), (folder / name).open("r+b") as file:
                file.seek(start)
                file.write(content)
        for name in self.gone:
            (folder / name).unlink(missing_ok=True)
            for place in Path(name).parents[:-1]:  # the last one is the folder itself
                with suppress(OSError):  # it is not empty, or not there
                    (folder / place).rmdir()


class Watch:
    """Looks at a folder again and again; the first look finds all that is there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._seen: dict[str, os.stat_result] = {}

    def changes(self) -> Changes:
        """Tell what changed since the last look."""
        before, self._seen = self._seen, self._found()
        found = Changes(gone=tuple(before.keys() - self._seen.keys()))
        for name, now in [*self._seen.items()]:
            known = before.get(name)
            if known and _version(known) == _version(now):
                continue
            try:
                with (self.folder / name).open("rb") as file:
                    if known and name.endswith(GROWING) and _grew(known, now):
                        file.seek(known.st_size)
                        found.grown[name] = known.st_size, file.read(now.st_size - known.st_size)
                    else:
                        found.written[name] = file.read()
            except FileNotFoundError:  # removed since; the next look tells it
                self._seen[name] = known or now
        return found

    def _found(self) -> dict[str, os.stat_result]:
        """List the files that are whole; the others, and their folders, have names that say so."""
        found = {}
        for place, _, names in os.walk(self.folder):  # which passes over folders that are removed
            for path in (Path(place, name) for name in names):
                name = path.relative_to(self.folder)
                if str(name) == LEFT or any(map(_unfinished, name.parts)):
                    continue
                with suppress(FileNotFoundError):  # removed since it was listed
                    found[str(name)] = path.stat()
        return found


@contextmanager
def temporary_place() -> Iterator[Path]:
    """Make a temporary folder for a copy, and remove those whose processes were killed."""
    for lock in Path(tempfile.gettempdir()).glob(f"{PLACE}*/{LEFT}"):
        with suppress(locks.AlreadyRunningError, OSError):
            _remove(lock.parent)
    with tempfile.TemporaryDirectory(prefix=PLACE) as made, locks.lock(Path(made)):
        yield Path(made)


def _remove(left: Path) -> None:
    if left.lstat().st_uid == os.getuid():  # others might have put a link there
        with locks.lock(left):
            shutil.rmtree(left)


def _unfinished(part: str) -> bool:
    return part.startswith(".") or part.endswith(".partial")


def _grew(known: os.stat_result, now: os.stat_result) -> bool:
    """Whether a file was appended to, and not replaced by a longer one."""
    return known.st_ino == now.st_ino and known.st_size < now.st_size


def _version(file: os.stat_result) -> tuple[int, int, int]:
    return file.st_ino, file.st_size, file.st_mtime_ns
