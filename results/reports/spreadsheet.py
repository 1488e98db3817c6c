"""Lines of a spreadsheet as CSV, in which no text is run as a formula."""

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import Any

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")  # noqa: RUF001 (full width)
"""How a cell begins that a spreadsheet would run as a formula (OWASP, "CSV Injection")."""


def comma_separated(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write one line per row, the first naming the columns of all rows."""
    text = StringIO()
    names = list(dict.fromkeys(name for row in rows for name in row))
    # Every text in quotes: only then is a carriage return in it no end of the line.
    writer = csv.DictWriter(
        text, names, restval="", lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC
    )
    if rows:
        writer.writeheader()
        writer.writerows({name: harmless(cell) for name, cell in row.items()} for row in rows)
    return text.getvalue().rstrip("\n")


def harmless(cell: Any) -> Any:
    """Keep a spreadsheet from running a text.

    >>> harmless("=1+1"), harmless("-5"), harmless(-5), harmless("7")
    ("'=1+1", "'-5", -5, '7')
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
