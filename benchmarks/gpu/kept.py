"""The figures of a part, kept in a file, so that a part goes on where it stopped."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

EXPECTED = "as expected"
"""How the outcome of a row begins that came so."""


class Kept:
    """Rows by item, of one machine and one commit: those of another are given up.

    Args:
        path: Of the file; it is written with the first item.
        machine: Card, versions and commit that new figures come from; None to only read.
    """

    def __init__(self, path: Path, machine: Mapping[str, str] | None = None) -> None:
        self._path = path
        found = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if machine and found.get("machine") != machine:
            found = {"machine": dict(machine), "expected": [], "items": {}}
        self.machine: dict[str, str] = found.get("machine", {})
        self.expected: list[str] = found.get("expected", [])
        self._items: dict[str, dict[str, Any]] = found.get("items", {})

    def expect(self, items: Sequence[str]) -> None:
        """Say what there is to measure."""
        self.expected = list(items)

    def add(self, item: str, rows: list[dict[str, Any]]) -> None:
        """Keep the rows of an item with the date."""
        self._items[item] = {"date": date.today().isoformat(), "rows": rows}
        kept = {"machine": self.machine, "expected": self.expected, "items": self._items}
        whole = self._path.with_suffix(".new")
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_text(json.dumps(kept, indent=1), encoding="utf-8")
        whole.replace(self._path)

    def left(self) -> list[str]:
        """List what was never measured, then what did not come as expected."""
        done = [item for item in self.expected if item in self._items]
        return [
            *self.missing,
            *(one for one in done if any(map(_faulty, self._items[one]["rows"]))),
        ]

    @property
    def missing(self) -> list[str]:
        """What was never measured."""
        return [item for item in self.expected if item not in self._items]

    @property
    def rows(self) -> list[dict[str, Any]]:
        """All rows, in the order of the items."""
        there = (item for item in self.expected if item in self._items)
        return [row for item in there for row in self._items[item]["rows"]]

    @property
    def faults(self) -> list[dict[str, Any]]:
        """The rows that did not come as expected."""
        return [row for row in self.rows if _faulty(row)]

    @property
    def dates(self) -> list[str]:
        """The days of the figures, in order."""
        return sorted({one["date"] for one in self._items.values()})


def _faulty(row: Mapping[str, Any]) -> bool:
    return not row["outcome"].startswith(EXPECTED)
