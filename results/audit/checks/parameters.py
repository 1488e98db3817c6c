"""Columns of trainable parameters in percent that do not fit the method on the backbone.

A percentage may be of all parameters after adapting, as PEFT prints it, or of those before.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction

from results import names
from results.audit.counts import Count, Counts
from results.audit.finding import Finding
from results.audit.interval import PRINTINGS, unit_of
from results.audit.table import Cell, PrintedTable, Row

CHECK = "parameters"


def check(table: PrintedTable, counts: Counts) -> Iterator[Finding]:
    """Ask about percentages that no known configuration of the method has on the backbone.

    Where the paper's own configuration is known, that alone is compared; a unit of the last digit
    beside it is notable, anything else inconsistent.
    """
    for index, column in enumerate(table.columns):
        if column.kind == "parameters":
            for row, cell in table.cells(index):
                yield from _cell(table, counts, row, cell)


def _cell(table: PrintedTable, counts: Counts, row: Row, cell: Cell) -> Iterator[Finding]:
    named = counts.get((names.method(row.method), names.backbone(row.group)), {})
    own = _own(named, table)
    compared = own or named
    if not compared or any(fits(cell.value, count) for count in compared.values()):
        return
    near = any(fits(cell.value, count, units=1) for count in compared.values())
    yield Finding(
        "inconsistent" if own and not near else "notable",
        CHECK,
        f"{row}, parameters",
        _question(table, counts, row, cell),
        f"{cell.value} % is printed; {_counted(compared, cell.decimals)}",
    )


def _own(named: Mapping[str, Count], table: PrintedTable) -> dict[str, Count]:
    """Keep the configurations of the table's own paper."""
    return {name: one for name, one in named.items() if name.endswith(f":{table.paper}-paper")}


def fits(percent: Decimal, count: Count, units: int = 0) -> bool:
    """Whether a percentage is that of a count, but for so many units of its last digit."""
    off = units * unit_of(percent)
    intervals = [printing.interval(percent) for printing in PRINTINGS]
    return any(
        low - off <= Fraction(100 * count.trainable, whole) <= high + off
        for low, high in intervals
        for whole in (count.total, count.base)
    )


def _question(table: PrintedTable, counts: Counts, row: Row, cell: Cell) -> str:
    """Ask about the configuration, or about another backbone of the table that would fit."""
    for group in table.blocks():
        own = _own(counts.get((names.method(row.method), names.backbone(group)), {}), table)
        if group != row.group and any(fits(cell.value, count) for count in own.values()):
            return f"Is this the percentage on {group}?"
    return "Which configuration of the method has this percentage?"


def _counted(counts: Mapping[str, Count], decimals: int) -> str:
    return ", ".join(
        f"{name} trains {count.trainable:,} of {count.total:,} = "
        f"{100 * count.trainable / count.total:.{decimals + 1}f} %"
        for name, count in counts.items()
    )
