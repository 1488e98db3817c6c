"""From a data file to its objects: plain or gzip, UTF-8, JSON, JSON lines or CSV."""

import gzip
import json
import zlib
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from tasks.data.columns import csv_rows
from tasks.data.layouts import Fields


class DataError(Exception):
    """A data file is not what it should be; the message names file, row and expectation."""


UTF_8_MARK = b"\xef\xbb\xbf"
MARKS = {
    UTF_8_MARK: "UTF-8 with a byte-order mark",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


def uncompressed(path: Path) -> bytes:
    """Read the content of a file, unpacked if its name ends in `.gz`; it is not empty."""
    try:
        if path.exists() and not path.is_file():  # to open a FIFO would wait for ever
            raise DataError(f"{path}: not a file.")
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: the gzip file is damaged or cut short: {error}.") from error
    except FileNotFoundError as error:
        raise DataError(f"{path}: there is no such file.{_nearest(path)}") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}.") from error
    if not content.strip():
        raise DataError(f"{path}: the file is empty. Expected rows of JSON or CSV.")
    return content


def _nearest(path: Path) -> str:
    """Suggest the file of the folder that was probably meant."""
    beside = [one.name for one in path.parent.iterdir()] if path.parent.is_dir() else []
    close = get_close_matches(path.name, beside, n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def text_of(path: Path, content: bytes) -> str:
    """Decode the content of a file.

    Raises:
        DataError: It is not UTF-8 without a mark, which spreadsheets put before CSV.
    """
    content = content.removeprefix(UTF_8_MARK) if _is_csv(path) else content
    for mark, encoding in MARKS.items():
        if content.startswith(mark):
            raise DataError(f"{path}: the encoding is {encoding}. Expected UTF-8 without a mark.")
    if b"\0" in content:  # JSON writes that character as \u0000
        raise DataError(f"{path}: the encoding is UTF-16 or the file damaged. Expected UTF-8.")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 at byte {error.start}.") from error


def items_of(path: Path, text: str) -> list[Fields]:
    """Read the rows of CSV, or the objects of JSON.

    Raises:
        DataError: The text is neither, or holds something else than objects; says where.
    """
    if _is_csv(path):
        try:
            return [*csv_rows(text)]
        except ValueError as error:
            raise DataError(f"{path}: {error}.") from error
    found = _decoded(path, text)
    for place, item in enumerate(found, 1):
        if not isinstance(item, Mapping):
            kind = type(item).__name__
            raise DataError(f"{path}: row {place}: expected an object, found {kind}.")
    return found


def _is_csv(path: Path) -> bool:
    return path.name.lower().removesuffix(".gz").endswith(".csv")


def _decoded(path: Path, text: str) -> list[Any]:
    """Decode a list, or one value a line."""
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
