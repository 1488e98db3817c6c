"""Files that are whole or not there, whatever ends their writer."""

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

from pydantic import TypeAdapter

from results.errors import ResultsError, stands_in
from results.texts import shortened

JSON_OBJECT = TypeAdapter(dict[str, Any])

END = 2**16
"""Bytes of a text of which only the end is asked for."""

LONGEST_LINE = 1000
"""Characters of a line of it."""


class RunFolderError(ResultsError):
    """A file of a run folder is missing or damaged, or the folder is of another format."""


def present(path: Path) -> bool:
    """Say whether there is a file at `path`.

    Raises:
        RunFolderError: Something else is in its place.
    """
    if path.is_file():
        return True
    with naming(path):
        if found := stands_in(path):
            raise RunFolderError(f"{path} is {found}, not a file.")
    return False


def read(path: Path) -> str:
    """Read the text of a file; one whose name ends in `.gz` is decompressed.

    Raises:
        RunFolderError: It is missing, cut short, or not text.
    """
    with naming(path):
        # To open a FIFO would never return.
        present(path)
        content = path.read_bytes()
        return (gzip.decompress(content) if path.suffix == ".gz" else content).decode()


def end_of(path: Path, lines: int) -> str:
    """Read the last lines of a text, long ones cut; of a long text no more than its end is read."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - END))
        found = file.read().decode(errors="replace").splitlines()
    if size > END and len(found) <= lines:
        found[0] = f"(the end of {size:,} bytes) {found[0]}"
    return "\n".join(shortened(line, LONGEST_LINE) for line in found[-lines:])


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        RunFolderError: It is missing, or holds something else.
    """
    with naming(path):
        return JSON_OBJECT.validate_json(read(path))


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read JSON objects, one a line.

    Raises:
        RunFolderError: The file is missing, or a line holds something else.
    """
    # Not splitlines: texts may hold other characters that it takes for the end of a line.
    lines = read(path).split("\n")
    with naming(path):
        return [JSON_OBJECT.validate_json(line) for line in lines if line]


def write(path: Path, text: str) -> None:
    """Write a text; one whose name ends in `.gz` is compressed."""
    content = text.encode()
    # Without a time stamp: equal texts make equal files.
    write_bytes(path, gzip.compress(content, mtime=0) if path.suffix == ".gz" else content)


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file; at every moment it is the old one or the new one, or there is none."""
    _partial(path, content).replace(path)


def write_new(path: Path, text: str) -> bool:
    """Write a text whole where no file has that name; say whether that was so."""
    partial = _partial(path, text.encode())
    try:
        path.hardlink_to(partial)
    except FileExistsError:
        return False
    finally:
        partial.unlink()
    return True


def written(text: str) -> str:
    r"""Write what no file can hold as escapes, such as the bytes of a file's name that is no text.

    >>> print(written("no such file: a\udcff.json"))
    no such file: a\udcff.json
    """
    return text.encode(errors="backslashreplace").decode()


def _partial(path: Path, content: bytes) -> Path:
    """Write what is to be a file under another name, beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # By chance, not by the process: other machines may share the file system.
    partial = path.with_name(f".{path.name}.{token_hex(4)}.partial")
    with partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    return partial


DAMAGE = (
    *(ArithmeticError, AttributeError, EOFError, LookupError, RecursionError, TypeError),
    *(ValueError, gzip.BadGzipFile, zlib.error),
)
"""What reading a file raises whose content is not what was written."""


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the file in what is wrong with its content.

    Raises:
        RunFolderError: Reading failed, or what was read lacks a key or has a wrong type.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise RunFolderError(f"{path} is missing.") from error
    except IsADirectoryError as error:
        raise RunFolderError(f"{path} is damaged: it is a folder") from error
    except DAMAGE as error:
        what = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise RunFolderError(f"{path} is damaged: {what}") from error
    except OSError as error:
        raise RunFolderError(f"{path} cannot be read: {error.strerror}.") from error
