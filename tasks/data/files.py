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

    Messages count rows from 1, as editors count lines.

    Raises:
        DataError: The file cannot be read, a row lacks one of the `required` fields or holds
            another type than text in it, or the content is not the one on record.
    """
    content = _content(path)
    rows = _rows(path, _decoded(path, content), required)
    digest = sha256(content).hexdigest()
    if len(rows) != file.rows:
        raise DataError(f"{path}: {len(rows)} rows, {file.title} has {file.rows}.")
    if file.sha256 and digest != file.sha256:
        raise DataError(
            f"{path}: not {file.title} as on record: its SHA-256 is {digest}, expected "
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
    """Decode a list, or one value a line."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 at byte {error.start}.") from error
    if text.lstrip()[:1] == "[":
        rows = _json(path, text, first_line=1)
        return rows if isinstance(rows, list) else [rows]
    # Not splitlines: it also splits at characters that JSON allows inside a text.
    lines = enumerate(text.split("\n"), 1)
    return [_json(path, line, number) for number, line in lines if line.strip()]


def _json(path: Path, text: str, first_line: int) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        line = first_line + error.lineno - 1
        where, why = f"line {line}, column {error.colno}", error.msg
    except (RecursionError, ValueError) as error:
        # Nested too deeply, or a number of thousands of digits.
        where, why = f"line {first_line} or below", str(error)
    raise DataError(
        f"{path}: not JSON at {where}: {why}. "
        "Expected a list of objects, or one object a line; is the file cut short?"
    )


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
