"""Rows of two methods that print the same scores."""

from collections.abc import Iterator
from itertools import combinations

from results.audit.finding import Finding
from results.audit.table import PrintedTable, Row

CHECK = "duplicates"
LEAST = 3
"""Scores in common from which chance is no explanation; of fewer columns nothing is said."""


def check(table: PrintedTable) -> Iterator[Finding]:
    """Ask about pairs of rows that agree in all benchmarks, or in all but one of five or more."""
    parts = [index for index, column in enumerate(table.columns) if column.kind == "benchmark"]
    for first, second in combinations(table.rows, 2):
        both = [(first.cells[part], second.cells[part]) for part in parts]
        printed = [(one.value, other.value) for one, other in both if one and other]
        same = [one for one, other in printed if one == other]
        allowed = 1 if len(printed) > LEAST + 1 else 0
        if len(same) >= max(LEAST, len(printed) - allowed) and len(set(same)) > 1:
            yield _finding(first, second, len(same), len(printed))


def _finding(first: Row, second: Row, same: int, printed: int) -> Finding:
    return Finding(
        "notable",
        CHECK,
        f"{first} and {second}",
        "Are these the scores of two methods, or of one?",
        f"{same} of {printed} printed scores are the same",
    )
