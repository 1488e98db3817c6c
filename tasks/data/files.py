"""Reading data files: JSON, JSON lines or CSV, plain or gzip; rows checked, faults located."""

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from tasks.contract import Columns, DataFile, GoldCheck, Row
from tasks.data import layouts
from tasks.data.columns import MissingColumnError, reader_of
from tasks.data.content import DataError, items_of, text_of, uncompressed
from tasks.data.layouts import Fields

__all__ = ["DataError", "locate", "read", "read_any", "uncompressed"]


class OtherColumnsError(DataError):
    """A data file lacks the columns that the user names."""


TEST_FIELDS = ("instruction", "answer")
TRAIN_FIELDS = ("instruction", "output")

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
    blank = file.blank if file.sha256 else file.rows or 0
    rows, digest = _read(path, required, check_gold, blank, file.columns)
    if file.rows not in (None, len(rows)):
        raise DataError(f"{path}: {len(rows)} rows, {file.title} has {file.rows}.")
    if file.sha256 and digest != file.sha256:
        raise DataError(
            f"{path}: not {file.title} as on record: its SHA-256 is {digest}, expected "
            f"{file.sha256}. Get it again from {file.source}."
        )
    return tuple(row for row in rows if row.output or "output" not in required), digest


def read_any(
    path: Path, required: tuple[str, ...], columns: Columns | None = None
) -> tuple[tuple[Row, ...], str]:
    """Read the rows of a file of unknown content, and its SHA-256.

    Args:
        path: The file.
        required: Fields that a row must have.
        columns: Columns that the file may have; otherwise its fields tell its layout.

    Raises:
        DataError: As `read`.
    """
    try:
        rows, digest = _read(path, required, lambda row: "", 0, columns)
    except OtherColumnsError as missing:
        try:
            rows, digest = _read(path, required, lambda row: "", 0, None)
        except DataError as error:
            raise DataError(f"{missing}\n  Read as a file of a known layout: {error}") from error
    return tuple(rows), digest


def _read(
    path: Path,
    required: tuple[str, ...],
    check_gold: GoldCheck,
    blank: int,
    columns: Columns | None,
) -> tuple[list[Row], str]:
    """Read all rows; at most `blank` of them may lack an output."""
    content = uncompressed(path)
    entries = _entries(path, text_of(path, content), columns)
    rows = list(_rows(path, entries, required, blank))
    if not rows:
        raise DataError(f"{path}: 0 rows. Expected one at least.")
    for row in rows:
        expected = check_gold(row)
        if expected:
            raise DataError(
                f"{path}: row {row.id + 1}: the answer is {row.answer!r}, expected {expected}."
            )
    return rows, sha256(content).hexdigest()


def _rows(
    path: Path, entries: Iterable[list[Fields]], required: tuple[str, ...], blank: int
) -> Iterator[Row]:
    number = 0
    for place, entry in enumerate(entries, 1):
        for fields in entry:
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


def _entries(path: Path, text: str, columns: Columns | None) -> Iterator[list[Fields]]:
    """Read each entry of a file as the rows that it stands for."""
    if layouts.is_parlai(text):
        try:
            yield from layouts.parlai(text)
        except ValueError as error:
            raise DataError(f"{path}: {error}.") from error
        return
    found = items_of(path, text)
    if columns and found:
        yield from _by_columns(path, found, columns)
        return
    for place, item in enumerate(found, 1):
        try:
            yield layouts.expand(item)
        except (TypeError, ValueError) as error:
            raise DataError(f"{path}: row {place}: not as its fields promise: {error}.") from error


def _by_columns(path: Path, found: list[Fields], columns: Columns) -> Iterator[list[Fields]]:
    try:
        fields_of = reader_of(columns, found[0])
    except MissingColumnError as error:
        raise OtherColumnsError(f"{path}: row 1: {error}.") from error
    for place, item in enumerate(found, 1):
        try:
            yield [fields_of(item)]
        except ValueError as error:
            raise DataError(f"{path}: row {place}: {error}.") from error


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
