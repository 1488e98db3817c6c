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

from results.errors import ResultsError

JSON_OBJECT = TypeAdapter(dict[str, Any])


class RunFolderError(ResultsError):
    """A file of a run folder is missing or damaged, or the folder is of another format."""


def read(path: Path) -> str:
    """Read the text of a file; one whose name ends in `.gz` is decompressed.

    Raises:
        RunFolderError: It is missing, cut short, or not text.
    """
    with naming(path):
        content = path.read_bytes()
        return (gzip.decompress(content) if path.suffix == ".gz" else content).decode()


def read_object(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        RunFolderError: It is missing, or holds something else.
    """
    with naming(path):
        return JSON_OBJECT.validate_json(read(path))


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
    except (EOFError, KeyError, TypeError, ValueError, gzip.BadGzipFile, zlib.error) as error:
        what = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise RunFolderError(f"{path} is damaged: {what}") from error
