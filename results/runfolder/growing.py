"""A text that grows while it is read, such as the log of a run."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from results.runfolder.files import LONGEST_LINE, present

BLOCK = 2**16
"""Bytes that are read at a time."""


class Growing:
    """The lines of the text at `path`, of which the file may be made later.

    Args:
        path: The file.
        lines: So many of those that are there already are read, the last ones.
    """

    def __init__(self, path: Path, lines: int) -> None:
        self._path = path
        self._offset = _start(path, lines) if present(path) else 0
        self._begun, self._length = b"", 0

    def new(self) -> Iterator[str]:
        """Read the lines that are whole since the last call, long ones cut.

        Raises:
            RunFolderError: Something else is in the place of the file.
        """
        if not present(self._path):
            return
        with self._path.open("rb") as file:
            file.seek(self._offset)
            while block := file.read(BLOCK):
                self._offset += len(block)
                *whole, last = block.split(b"\n")
                for part in whole:
                    yield self._line(part)
                self._add(last)

    def rest(self) -> Iterator[str]:
        """Give the last line, if it has no end."""
        if self._length:
            yield self._line(b"")

    def _add(self, part: bytes) -> None:
        """Keep as much of a line as is shown, so that one of any length takes no memory."""
        self._length += len(part)
        # A character has four bytes at most, so one byte more makes one character more.
        self._begun = (self._begun + part)[: 4 * LONGEST_LINE + 1]

    def _line(self, part: bytes) -> str:
        self._add(part)
        text, length = self._begun.decode(errors="replace"), self._length
        self._begun, self._length = b"", 0
        long = len(text) > LONGEST_LINE
        return f"{text[:LONGEST_LINE]}… ({length:,} bytes)" if long else text


def _start(path: Path, lines: int) -> int:
    """Find where the last lines begin; of a long text no more than these is read."""
    with path.open("rb") as file:
        size = place = file.seek(0, os.SEEK_END)
        left = lines
        while place:
            begin = max(0, place - BLOCK)
            for end in _ends(file, begin, place):
                # The end of the last line ends the text; no line begins there.
                left -= end != size - 1
                if not left:
                    return end + 1
            place = begin
    return 0


def _ends(file: IO[bytes], begin: int, end: int) -> Iterator[int]:
    """Give the places of the ends of lines between two places, the last one first."""
    file.seek(begin)
    block = file.read(end - begin)
    found = block.rfind(b"\n")
    while found >= 0:
        yield begin + found
        found = block.rfind(b"\n", 0, found)
