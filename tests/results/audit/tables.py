"""Small printed tables, written as a table is: one line for each row."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from results.audit.finding import Finding
from results.audit.table import Cell, Column, PrintedTable, Row


def cell(text: str) -> Cell | None:
    """Read `*84.03*` as bold, `_82.57_` as underlined, `84.24!` as starred, `1.2+-0.3`, `<0.05`.

    A dash is no cell.
    """
    if text == "-":
        return None
    value, _, sd = text.strip("*_!<").partition("+-")
    return Cell(
        text=text,
        value=Decimal(value),
        sd=Decimal(sd) if sd else None,
        bold="*" in text,
        underlined="_" in text,
        star="!" in text,
        below="<" in text,
    )


def table(
    columns: Sequence[Column], lines: Mapping[str, str], group: str = "", **declared: Any
) -> PrintedTable:
    """Make a table of one block; by default of one run and of declared sizes."""
    rows = [Row(group, name, tuple(map(cell, line.split()))) for name, line in lines.items()]
    assert all(len(row.cells) == len(columns) for row in rows)
    facts = {"seeds": 1, "sizes_declared": True, "sd_declared": True, **declared}
    return PrintedTable("a table", tuple(columns), tuple(rows), **facts)


def said(findings: Sequence[Finding]) -> list[tuple[str, str]]:
    """Say of each finding its grade and place."""
    return [(finding.grade, finding.where) for finding in findings]
