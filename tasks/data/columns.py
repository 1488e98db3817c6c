"""Files with columns of any name: rows of CSV, and which column means what."""

import csv
import io
from collections.abc import Callable, Mapping
from typing import Any

from tasks.contract import Columns

QUESTIONS = ("question", "instruction")
ANSWERS = ("answer", "output", "label")
"""Usual names of columns, by preference."""


class MissingColumnError(ValueError):
    """The first row of a file lacks a column."""


def csv_rows(text: str) -> list[dict[str, Any]]:
    r"""Read the rows below the header of a CSV file.

    Raises:
        ValueError: The header or a row is not as it should be; names the row, from 1.

    >>> csv_rows('q,a\n"1, 2 or 3?",3\n')
    [{'q': '1, 2 or 3?', 'a': '3'}]
    """
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    try:
        header, rows = list(reader.fieldnames or ()), list(reader)
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num}: not CSV: {error}") from error
    if len(set(header)) < len(header) or not all(header):
        names = ", ".join(map(repr, header))
        raise ValueError(f"the header has the columns {names}; expected a distinct name for each")
    for number, row in enumerate(rows, 1):
        if None in row or None in row.values():
            count = "more" if None in row else "fewer"
            raise ValueError(f"row {number}: {count} cells than the {len(header)} of the header")
    return rows


def reader_of(columns: Columns, first: Mapping[str, Any]) -> Callable[[Any], dict[str, Any]]:
    """Make what reads a row by its columns, as the first row of the file has them.

    Returns:
        A function from a row to instruction, input, output and answer. It raises a ValueError if
        the row lacks one of the columns or holds neither text nor a number in it.

    Raises:
        MissingColumnError: The first row lacks a column.

    >>> read = reader_of(Columns(question="q"), {"q": "1 + 1?", "answer": 2})
    >>> read({"q": "2 + 3?", "answer": 5})
    {'instruction': '2 + 3?', 'output': '5', 'answer': '5', 'input': None}
    """
    question = _column(columns.question, QUESTIONS, first)
    answer = _column(columns.answer, ANSWERS, first)
    output = columns.output if columns.output in first else answer
    has_context = question != "input" and answer != "input"

    def read(row: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "instruction": _text(row, question),
            "output": _text(row, output),
            "answer": _text(row, answer).strip(),
            "input": row.get("input") if has_context else None,
        }

    return read


def _column(name: str, usual: tuple[str, ...], first: Mapping[str, Any]) -> str:
    """Choose the column `name`, or the first of the usual ones that there is."""
    found = next((one for one in ([name] if name else usual) if one in first), None)
    if found is None:
        wanted = repr(name) if name else " or ".join(map(repr, usual))
        raise MissingColumnError(f"no column {wanted}; {_has(first)}")
    return found


def _text(row: Mapping[str, Any], name: str) -> str:
    """Read a cell as text; numbers and truth values as JSON writes them."""
    if name not in row:
        raise ValueError(f"no column {name!r}; {_has(row)}")
    value = row[name]
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    if value is None or (isinstance(value, str) and not value.strip()):
        raise ValueError(f"column {name!r} is empty")
    if not isinstance(value, str):
        kind = type(value).__name__
        raise ValueError(f"column {name!r} holds {kind}, expected text or a number")
    return value


def _has(row: Mapping[str, Any]) -> str:
    return f"it has {', '.join(map(repr, row)) or 'none'}"
