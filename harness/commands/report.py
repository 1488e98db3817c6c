"""What a command answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from results.reports.markdown_table import markdown_table


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


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Write rows of the same fields as a table."""
    lines = [["-" if value is None else str(value) for value in row.values()] for row in rows]
    return markdown_table(list(rows[0]), lines, align="l" * len(rows[0]))
