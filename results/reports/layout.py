"""What of a table is printed, and how wide; the numbers are those of the analysis."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

from results.analysis.table import Block, Table, TableRow
from results.errors import ResultsError, unknown
from results.record import POOLED

Width = Literal["column", "page"]
AVERAGES = ("micro", POOLED, "macro")

_LABEL = re.compile(r"(?:peft:)?([^:\[@]+)(?::([^\[@]+))?(?:@([^\[]+))?(?:\[(.*)\])?")
"""A method of a file, or a tuner of PEFT; a variant; a version; fields."""


@dataclass(frozen=True)
class Layout:
    """How tables are printed; a format takes what means something to it."""

    columns: tuple[str, ...] = ()
    """The only ones to show, in this order; all without any."""
    spread: bool = True
    """Whether means are printed with their SD."""
    characters: int | None = 100
    """How wide a line of text may be; None for any width."""
    width: Width = "page"
    """Whether a table for a paper is as wide as one column of text, or as the page."""
    label: str = ""
    """By which a paper refers to the table; made of group and metric without one."""
    costs: bool = False
    """Whether time, speed, memory and size stand beside the scores."""
    runs: bool = False
    """Whether the ids of the runs behind the cells are listed, in LaTeX in comments of the source;
    JSON and CSV always have them."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """What a paper calls methods, benchmarks and groups; a name without one stays as it is."""


def chosen(tables: Sequence[Table], columns: Sequence[str]) -> list[Table]:
    """Keep only some columns, in the order asked for; tables that have none of them are left out.

    Raises:
        ResultsError: No table has a column of one of the names.
    """
    if not columns:
        return list(tables)
    known = {name.lower(): name for table in tables for name in table.columns}
    faults = [unknown("column", one, known.values()) for one in columns if one.lower() not in known]
    if faults:
        raise ResultsError("\n".join(faults))
    wanted = dict.fromkeys(known[one.lower()] for one in columns)
    kept = [(table, [name for name in wanted if name in table.columns]) for table in tables]
    return [_only(table, names) for table, names in kept if names]


def without_idle_averages(table: Table, layout: Layout) -> Table:
    """Leave out averages over one benchmark, which repeat its numbers, unless asked for."""
    if layout.columns or len(table.benchmarks) > 1:
        return table
    return _only(table, [name for name in table.columns if name not in AVERAGES])


def ranked(block: Block) -> frozenset[str]:
    """Name the columns in which methods differ: where all are equal, none is best."""
    return frozenset(
        cell.column for row in block.rows for cell in row.cells if (cell.rank or 0) > 1
    )


def split(widths: Sequence[float], room: float) -> list[slice]:
    """Divide columns into as few parts of about equal length as fit, each at least one column.

    >>> split([10, 10, 10], room=25)
    [slice(0, 2, None), slice(2, 3, None)]
    """
    for count in range(1, len(widths)):
        parts = _parts(len(widths), count)
        if all(sum(widths[part]) <= room for part in parts):
            return parts
    return _parts(len(widths), len(widths))


def _parts(columns: int, count: int) -> list[slice]:
    bounds = [-(-part * columns // count) for part in range(count + 1)]
    return [slice(*ends) for ends in pairwise(bounds)]


def titled(table: Table, titles: Mapping[str, str]) -> Table:
    """Call group, benchmarks and methods by their titles."""

    def of_row(row: TableRow) -> TableRow:
        cells = (replace(cell, column=titles.get(cell.column, cell.column)) for cell in row.cells)
        return replace(row, label=method_title(row.label, titles), cells=tuple(cells))

    def of_block(block: Block) -> Block:
        absent = tuple(method_title(name, titles) for name in block.absent)
        return replace(block, absent=absent)

    group = table.conditions.group
    rows = _each_row(table, of_row)
    return replace(
        rows,
        blocks=tuple(map(of_block, rows.blocks)),
        conditions=replace(table.conditions, group=titles.get(group, group)),
        columns=tuple(titles.get(name, name) for name in table.columns),
    )


def method_title(label: str, titles: Mapping[str, str]) -> str:
    """Write the label of a method as a paper does.

    >>> method_title("rosa:roae-only[r=2,alpha=4]", {"rosa": "RoSA"})
    'RoSA (roae-only, r=2, alpha=4)'
    >>> method_title("lora@9f3c1a2b", {"lora": "LoRA"}), method_title("peft:WAVEFT", {})
    ('LoRA (version 9f3c1a2b)', 'WAVEFT')
    """
    found = _LABEL.fullmatch(label)
    if not found:
        return label
    name, variant, version, fields = found.groups()
    told = [variant, version and f"version {version}", (fields or "").replace(",", ", ")]
    details = ", ".join(filter(None, told))
    title = titles.get(name, name)
    return f"{title} ({details})" if details else title


def _only(table: Table, names: Collection[str]) -> Table:
    def of_row(row: TableRow) -> TableRow:
        cells = {cell.column: cell for cell in row.cells}
        return replace(row, cells=tuple(cells[name] for name in names))

    return replace(_each_row(table, of_row), columns=tuple(names))


def _each_row(table: Table, change: Callable[[TableRow], TableRow]) -> Table:
    blocks = (replace(block, rows=tuple(map(change, block.rows))) for block in table.blocks)
    return replace(table, blocks=tuple(blocks))
