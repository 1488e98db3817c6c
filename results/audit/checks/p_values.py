"""p-values, and stars that stand for them, that do not follow from means, deviations and seeds.

A p-value follows if some numbers that print as the given means and deviations have it, in Welch's
test or Student's, two-sided or one-sided, with deviations by seeds - 1 or by seeds. What a paired
test gives depends on the correlation of the seeds, which no table prints; it and an adjustment for
several comparisons are named where they would explain the p-value.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from math import inf, sqrt

# Not scipy.stats, which takes longer to import than all the rest of an audit takes.
from scipy.special import stdtr

from results.audit.finding import Finding
from results.audit.interval import PRINTINGS
from results.audit.table import PrintedTable, Row

CHECK = "p-values"
NOISE = 1e-9
"""What floating point may add to a p-value."""

Range = tuple[float, float]


@dataclass(frozen=True)
class _Claim:
    """A p-value that is printed for the difference of two rows in a column."""

    row: Row
    column: int
    p: Decimal
    below: bool
    """Whether p is said to be less, not to be printed so."""


@dataclass(frozen=True)
class _Pair:
    """What is known of two printed means: ranges of their difference and of both deviations."""

    difference: Range
    sds: tuple[Range, Range]
    seeds: int


def check(table: PrintedTable) -> Iterator[Finding]:
    """Ask about p-values of rows whose means and deviations are printed, as are their rivals'."""
    if table.seeds is None or table.seeds < 2:  # noqa: PLR2004 - no spread, no test
        return
    for claim in _claims(table):
        pairs = [
            pair
            for rival in _rivals(table, claim)
            if (pair := _pair(table, claim, rival, table.seeds))
        ]
        if pairs and not any(_meets(claim, _unpaired(pair)) for pair in pairs):
            yield _finding(table, claim, pairs)


def _claims(table: PrintedTable) -> Iterator[_Claim]:
    """Go through the printed p-values, then through the stars."""
    for index, column in enumerate(table.columns):
        for row, cell in table.cells(index):
            if column.kind == "p" and column.of is not None:
                yield _Claim(row, column.of, cell.value, cell.below)
            elif cell.star and table.star is not None:
                yield _Claim(row, index, table.star, below=True)


def _rivals(table: PrintedTable, claim: _Claim) -> list[Row]:
    """List the rows that a row is compared with: the one of `against`, or the best others."""
    others = [row for row in table.blocks()[claim.row.group] if row is not claim.row]
    if table.against:
        return [row for row in others if row.method == table.against]
    values = [cell.value for row in others if (cell := row.cells[claim.column])]
    if not values:
        return []
    best = max(values) if table.columns[claim.column].higher_is_better else min(values)
    return [row for row in others if (cell := row.cells[claim.column]) and cell.value == best]


def _pair(table: PrintedTable, claim: _Claim, rival: Row, seeds: int) -> _Pair | None:
    rows = (claim.row, rival)
    cells = [cell for row in rows if (cell := row.cells[claim.column])]
    sds = [sd for row in rows if (sd := table.sd(row, claim.column)) is not None]
    if len(cells) < 2 or len(sds) < 2:  # noqa: PLR2004 - of both rows
        return None
    means = [_range(cell.value) for cell in cells]
    difference = (means[0][0] - means[1][1], means[0][1] - means[1][0])
    return _Pair(difference, (_range(sds[0]), _range(sds[1])), seeds)


def _range(value: Decimal) -> Range:
    """Give the ends of what prints as a value, rounded or truncated, once or over printed seeds."""
    ends = [printing.interval(value, times=2) for printing in PRINTINGS]
    return max(0.0, float(min(end.low for end in ends))), float(max(end.high for end in ends))


def _unpaired(pair: _Pair) -> list[Range]:
    """Give the ranges of p in tests of two independent samples."""
    (low_a, high_a), (low_b, high_b) = pair.sds
    # Deviations by seeds are smaller than those by seeds - 1 that a test takes.
    population = sqrt(pair.seeds / (pair.seeds - 1))
    errors = (
        sqrt((low_a**2 + low_b**2) / pair.seeds),
        (population * sqrt((high_a**2 + high_b**2) / pair.seeds)),
    )
    return _sides(pair.difference, errors, (_least_df(pair), 2 * pair.seeds - 2))


def _least_df(pair: _Pair) -> float:
    """Give the fewest degrees of freedom of Welch's test; Student's has the most, 2 seeds - 2."""
    corners = [(a**2, b**2) for a, b in product(*pair.sds) if a or b]
    found = [(a + b) ** 2 / (a * a + b * b) * (pair.seeds - 1) for a, b in corners]
    return min(found, default=pair.seeds - 1)


def _paired(pair: _Pair) -> list[Range]:
    """Give the ranges of p in tests of paired seeds, whatever their correlation."""
    (low_a, high_a), (low_b, high_b) = pair.sds
    population = sqrt(pair.seeds / (pair.seeds - 1))
    least = max(0.0, low_a - high_b, low_b - high_a) / sqrt(pair.seeds)
    most = population * (high_a + high_b) / sqrt(pair.seeds)
    return _sides(pair.difference, (least, most), (pair.seeds - 1, pair.seeds - 1))


def _sides(difference: Range, errors: Range, df: Range) -> list[Range]:
    """Give the range of p of a two-sided test, then those of both one-sided ones."""
    apart = sorted(map(abs, difference))
    nearest = 0.0 if difference[0] <= 0 <= difference[1] else apart[0]
    low = _tail(_ratio(apart[1], errors[0]), df[1])
    high = _tail(_ratio(nearest, errors[1]), df[0])
    return [(2 * low, 2 * high), (low, high), (1 - high, 1 - low)]


def _ratio(difference: float, error: float) -> float:
    return difference / error if error else (inf if difference else 0.0)


def _tail(t: float, df: float) -> float:
    return float(stdtr(df, -t))


def _meets(claim: _Claim, ranges: Sequence[Range]) -> bool:
    """Whether a p of one of the ranges is printed as the claim."""
    ends = [printing.interval(claim.p) for printing in PRINTINGS]
    low = 0.0 if claim.below else float(min(end.low for end in ends))
    high = float(claim.p) if claim.below else float(max(end.high for end in ends))
    return any(start <= high + NOISE and low <= end + NOISE for start, end in ranges)


def _finding(table: PrintedTable, claim: _Claim, pairs: Sequence[_Pair]) -> Finding:
    low, high = _unpaired(pairs[0])[0]
    others = len(table.blocks()[claim.row.group]) - 1
    adjusted = any(_meets(claim, [(low, high * others)]) for low, high in map(_two_sided, pairs))
    explained = adjusted or any(_meets(claim, _paired(pair)) for pair in pairs)
    asked = ", paired over seeds or adjusted for several comparisons" if explained else ""
    return Finding(
        "inconsistent" if table.sd_declared and not explained else "notable",
        CHECK,
        f"{claim.row}, {table.columns[claim.column]}",
        f"Which test gives this p-value{asked}?",
        f"p {'< ' if claim.below else '= '}{claim.p} is printed; means, deviations and "
        f"{pairs[0].seeds} runs give {low:.2g} to {high:.2g} two-sided, half of that one-sided",
    )


def _two_sided(pair: _Pair) -> Range:
    return _unpaired(pair)[0]
