"""Reading data files: JSON or JSON lines, plain or gzip, each row checked, each fault located."""

import gzip
import json
import zlib
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from tasks.base import DataFile, Row


class DataError(Exception):
    """A data file is not what it should be; the message names file, row and expectation."""


TEST_FIELDS = ("instruction", "answer")
TRAIN_FIELDS = ("instruction", "output")


def locate(file: DataFile, folder: Path) -> Path | None:
    """Find `file` below `folder`; None where it is not there."""
    candidates = (folder / f"{place}{end}" for place in file.places for end in ("", ".gz"))
    return next((path for path in candidates if path.is_file()), None)


def read(file: DataFile, path: Path, required: tuple[str, ...]) -> tuple[tuple[Row, ...], str]:
    """Read the rows of `file` and the SHA-256 of its uncompressed content.

    Raises:
        DataError: The file cannot be read, a row lacks one of the `required` fields or holds
            another type than text in it, or the content is not the one on record.
    """
    content = _content(path)
    rows = _rows(path, _decoded(path, content), required)
    digest = sha256(content).hexdigest()
    if len(rows) != file.rows:
        raise DataError(f"{path}: {len(rows)} rows, but the {file.title} has {file.rows}.")
    if file.sha256 and digest != file.sha256:
        raise DataError(
            f"{path}: not the {file.title} on record: its SHA-256 is {digest}, expected "
            f"{file.sha256}. Get it again from {file.source}."
        )
    return rows, digest


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        return gzip.decompress(content) if path.suffix == ".gz" else content
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: the gzip file is damaged or cut short: {error}.") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}.") from error


def _decoded(path: Path, content: bytes) -> list[Any]:
    try:
        text = content.decode()
        if text.lstrip()[:1] == "[":
            rows = json.loads(text)
        else:
            rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 at byte {error.start}.") from error
    except json.JSONDecodeError as error:
        raise DataError(
            f"{path}: not JSON at line {error.lineno}, column {error.colno}: {error.msg}. "
            "Expected a list of objects, or one object a line; is the file cut short?"
        ) from error
    return list(rows)


def _rows(path: Path, decoded: list[Any], required: tuple[str, ...]) -> tuple[Row, ...]:
    for number, row in enumerate(decoded, 1):
        fault = _fault(row, required)
        if fault:
            raise DataError(f"{path}: row {number}: {fault}.")
    return tuple(
        Row(number, row["instruction"], str(row.get("output", "")), str(row.get("answer", "")))
        for number, row in enumerate(decoded)
    )


def _fault(row: Any, required: tuple[str, ...]) -> str:
    if not isinstance(row, Mapping):
        return f"expected an object, found {type(row).__name__}"
    for name in required:
        if name not in row:
            return f"no field {name!r}; expected {', '.join(required)}"
        if not isinstance(row[name], str):
            return f"field {name!r} holds {type(row[name]).__name__}, expected text"
        if not row[name].strip():
            return f"field {name!r} is empty"
    return ""
