"""Reading data files: JSON or JSON lines, plain or gzip, each row checked, each fault located."""

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from tasks.contract import DataFile, GoldCheck, Row
from tasks.data import layouts
from tasks.data.layouts import Fields


class DataError(Exception):
    """A data file is not what it should be; the message names file, row and expectation."""


TEST_FIELDS = ("instruction", "answer")
TRAIN_FIELDS = ("instruction", "output")

MARKS = {
    b"\xef\xbb\xbf": "UTF-8 with a byte-order mark",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


HALF = re.compile("[\ud800-\udfff]")
"""Half of a character, which JSON can hold and no encoding can write."""


ENDS = ("", ".gz", "l", "l.gz")
"""What may follow the name of a place: packed, or JSON lines under a name that says so."""


def locate(file: DataFile, folder: Path) -> Path | None:
    """Find `file` below `folder`; None where it is not there."""
    candidates = (folder / f"{place}{end}" for place in file.places for end in ENDS)
    return next((path for path in candidates if path.is_file()), None)


def read(
    file: DataFile, path: Path, required: tuple[str, ...], check_gold: GoldCheck = lambda row: ""
) -> tuple[tuple[Row, ...], str]:
    """Read the rows of `file` and the SHA-256 of its uncompressed content.

    Messages count rows from 1, as editors count lines. Where an output is required, rows that are
    known to lack one are left out, and the others keep their numbers.

    Raises:
        DataError: The file cannot be read, a row lacks one of the `required` fields or holds
            another type than text in it, a gold answer is not of the form that it should have, or
            the content is not the one on record.
    """
    # Of a file that this project never had, any row may lack an output.
    rows, digest = _read(path, required, check_gold, file.blank if file.sha256 else file.rows)
    if len(rows) != file.rows:
        raise DataError(f"{path}: {len(rows)} rows, {file.title} has {file.rows}.")
    if file.sha256 and digest != file.sha256:
        raise DataError(
            f"{path}: not {file.title} as on record: its SHA-256 is {digest}, expected "
            f"{file.sha256}. Get it again from {file.source}."
        )
    return tuple(row for row in rows if row.output or "output" not in required), digest


def read_any(path: Path, required: tuple[str, ...]) -> tuple[tuple[Row, ...], str]:
    """Read the rows of a file of unknown content, and its SHA-256.

    Raises:
        DataError: As `read`.
    """
    rows, digest = _read(path, required, lambda row: "", 0)
    return tuple(rows), digest


def _read(
    path: Path, required: tuple[str, ...], check_gold: GoldCheck, blank: int
) -> tuple[list[Row], str]:
    """Read all rows; at most `blank` of them may lack an output."""
    content = uncompressed(path)
    rows = list(_rows(path, _text(path, content), required, blank))
    if not rows:
        raise DataError(f"{path}: 0 rows. Expected one at least.")
    for row in rows:
        expected = check_gold(row)
        if expected:
            raise DataError(
                f"{path}: row {row.id + 1}: the answer is {row.answer!r}, expected {expected}."
            )
    return rows, sha256(content).hexdigest()


def uncompressed(path: Path) -> bytes:
    """Read the content of a file, unpacked if its name ends in `.gz`; it is not empty."""
    try:
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: the gzip file is damaged or cut short: {error}.") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}.") from error
    if not content.strip():
        raise DataError(f"{path}: the file is empty. Expected rows of JSON.")
    return content


def _text(path: Path, content: bytes) -> str:
    for mark, encoding in MARKS.items():
        if content.startswith(mark):
            raise DataError(f"{path}: the encoding is {encoding}. Expected UTF-8 without a mark.")
    if b"\0" in content:  # JSON writes that character as \u0000
        raise DataError(f"{path}: the encoding is UTF-16 or the file damaged. Expected UTF-8.")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 at byte {error.start}.") from error


def _rows(path: Path, text: str, required: tuple[str, ...], blank: int) -> Iterator[Row]:
    number = 0
    for place, entries in enumerate(_entries(path, text), 1):
        for fields in entries:
            without = blank > 0 and fields.get("output") == ""
            blank -= without
            fault = _fault(fields, tuple(n for n in required if n != "output" or not without))
            if fault:
                raise DataError(f"{path}: row {place}: {fault}.")
            output, answer, context = (_optional(fields, n) for n in ("output", "answer", "input"))
            yield Row(number, fields["instruction"], output, answer, context)
            number += 1


def _optional(fields: Fields, name: str) -> str:
    value = fields.get(name)
    return "" if value is None else str(value)


def _entries(path: Path, text: str) -> Iterator[list[Fields]]:
    """Read each entry of a file as the rows that it stands for."""
    if layouts.is_parlai(text):
        try:
            yield from layouts.parlai(text)
        except ValueError as error:
            raise DataError(f"{path}: {error}.") from error
        return
    for place, item in enumerate(_decoded(path, text), 1):
        if not isinstance(item, Mapping):
            kind = type(item).__name__
            raise DataError(f"{path}: row {place}: expected an object, found {kind}.")
        try:
            yield layouts.expand(item)
        except (TypeError, ValueError) as error:
            raise DataError(f"{path}: row {place}: not as its fields promise: {error}.") from error


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


def _fault(fields: Fields, required: tuple[str, ...]) -> str:
    for name in required:
        if name not in fields:
            return f"no field {name!r}; expected {', '.join(required)}"
        if not isinstance(fields[name], str):
            return f"field {name!r} holds {type(fields[name]).__name__}, expected text"
        if not fields[name].strip():
            return f"field {name!r} is empty"
    for name in (*required, "input"):
        value = fields.get(name)
        if not isinstance(value, str | None):
            return f"field {name!r} holds {type(value).__name__}, expected text"
        if value and HALF.search(value):
            return f"field {name!r} holds half of a character, expected text that can be encoded"
    return ""
