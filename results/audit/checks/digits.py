"""Whether the digits of a table were rounded or truncated, told for the table as a whole."""

from collections.abc import Iterator

from results.audit.checks.cells import countable, ways_of_printing
from results.audit.finding import Finding, some
from results.audit.interval import ROUNDED, TRUNCATED, Printing
from results.audit.table import PrintedTable

CHECK = "digits"


def check(table: PrintedTable) -> Iterator[Finding]:
    """Say where cells can be truncated only, and ask where a table has both kinds."""
    rounded, truncated = only(table, ROUNDED), only(table, TRUNCATED)
    if not truncated:
        return
    if not rounded:
        yield Finding(
            "notable",
            CHECK,
            "the table",
            "Were the numbers truncated, not rounded?",
            f"{len(truncated)} cells are possible only if truncated, none only if rounded: "
            f"{some(truncated)}",
        )
        return
    declared = table.seeds and table.sizes_declared
    yield Finding(
        "inconsistent" if declared else "notable",
        CHECK,
        "the table",
        "Were some numbers rounded and others truncated?",
        f"{len(rounded)} cells are possible only if rounded ({some(rounded)}) and "
        f"{len(truncated)} only if truncated ({some(truncated)})",
    )


def only(table: PrintedTable, printing: Printing) -> list[str]:
    """Write the cells that are possible in one way of printing and not in the other."""
    return [
        f"{cell.value} at {row}, {table.columns[index]}"
        for index in countable(table)
        for row, cell in table.cells(index)
        if ways_of_printing(table.columns[index], table.seeds or 1, cell) == [printing]
    ]
