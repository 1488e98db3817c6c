"""Whether the digits of a table were rounded or truncated, told for the table as a whole."""

from collections.abc import Iterator

from results.audit.finding import Finding, some
from results.audit.fits import only
from results.audit.interval import ROUNDED, TRUNCATED
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
