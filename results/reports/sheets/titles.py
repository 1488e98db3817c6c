"""What a paper calls methods, benchmarks and groups, in place of their names."""

import re
from collections.abc import Mapping
from dataclasses import replace

from results.analysis.table import Block, Table, TableRow
from results.reports.sheets.shown import each_row

_LABEL = re.compile(r"(?:peft:)?([^:\[@]+)(?::([^\[@]+))?(?:@([^\[]+))?(?:\[(.*)\])?")
"""A method of a file, or a tuner of PEFT; a variant; a version; fields."""


def titled(table: Table, titles: Mapping[str, str] | None) -> Table:
    """Call group, benchmarks and methods by their titles, if there are any."""
    if titles is None:
        return table

    def of_row(row: TableRow) -> TableRow:
        cells = (replace(cell, column=titles.get(cell.column, cell.column)) for cell in row.cells)
        return replace(row, label=method_title(row.label, titles), cells=tuple(cells))

    def of_block(block: Block) -> Block:
        absent = tuple(method_title(name, titles) for name in block.absent)
        hidden = {
            method_title(label, titles): {titles.get(name, name): rank for name, rank in of.items()}
            for label, of in block.hidden.items()
        }
        return replace(block, absent=absent, hidden=hidden)

    group = table.conditions.group
    rows = each_row(table, of_row)
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
