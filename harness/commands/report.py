"""The answer of a command."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from results.reports.markdown_table import markdown_table
from results.reports.sheets.printing import Printing


@dataclass(frozen=True)
class Report:
    """The same facts as text and as values; unsound where something is wrong with them.

    Attributes:
        notes: What a reader must know besides, such as guests that cannot be used.
    """

    text: str
    value: Any
    sound: bool = True
    notes: Sequence[str] = ()


def table(rows: Sequence[dict[str, Any]], *, wide: bool = False) -> str:
    """Write rows of the same fields as a table of at most 100 characters, or of any width.

    >>> print(table([{"name": "gsm8k", "rows": 1319}, {"name": "own", "rows": None}]))
    | name  |  rows |
    | :---- | ----: |
    | gsm8k | 1,319 |
    | own   |     - |
    """
    numbers = [_is_numbers([row[name] for row in rows]) for name in rows[0]]
    align = "".join("r" if right else "l" for right in numbers)
    lines = [list(map(_written, row.values())) for row in rows]
    return markdown_table(list(rows[0]), lines, align, None if wide else Printing.characters)


def counted(number: int, one: str, several: str) -> str:
    """Write a number with the words that follow it.

    >>> counted(1, "run", "runs"), counted(2, "run is", "runs are")
    ('1 run', '2 runs are')
    """
    return f"{number} {one if number == 1 else several}"


def _is_numbers(values: Sequence[Any]) -> bool:
    found = [value for value in values if value is not None]
    return bool(found) and all(isinstance(value, int | float) for value in found)


def _written(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int | float) else str(value)
