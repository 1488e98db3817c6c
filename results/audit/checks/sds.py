"""Standard deviations over seeds that no numbers of right items have (GRIMMER)."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import sqrt

from results.audit.finding import Finding
from results.audit.fits import printings
from results.audit.interval import PRINTINGS, Interval, Printing, unit_of
from results.audit.spread import largest_variance, possible
from results.audit.table import Cell, Column, PrintedTable

CHECK = "GRIMMER"
LEAST = 2
"""Seeds of which there is a standard deviation, and of which it can be largest."""


@dataclass(frozen=True)
class _Spread:
    """A mean and a standard deviation as they are printed."""

    where: str
    column: Column
    cell: Cell
    sd: Decimal

    def mean(self, printing: Printing, times: int) -> Interval:
        """Hold the means of shares that print so, in [0, 1]."""
        return printing.interval(self.cell.value, times).times(Fraction(1, self.column.whole))

    def deviation(self, printing: Printing, seeds: int, times: int) -> Interval:
        """Hold the deviations of exact shares that print so.

        Where the digits of each share were cut before (`times` is 2), each is off by half a unit at
        most beside a shift of all, and the deviation by that times sqrt(seeds / (seeds - 1)).
        """
        low, high = printing.interval(self.sd)
        cut = unit_of(self.cell.value) / 2 * Fraction(sqrt(seeds / (seeds - 1)))
        off = cut * (times - 1)
        return Interval(low - off, high + off).times(Fraction(1, self.column.whole))


def check(table: PrintedTable) -> Iterator[Finding]:
    """Ask about standard deviations of shares, by the range alone and by whole numbers."""
    for spread in _spreads(table):
        if table.seeds == 1:
            question = "Over what does one run have a standard deviation?"
            said = f"{spread.sd} is printed beside one run"
            yield Finding("notable", CHECK, spread.where, question, said)
        elif not _in_range(spread, table.seeds or LEAST):
            yield _too_large(table, spread)
        elif table.seeds and not _some_counts(spread, table.seeds):
            yield _no_counts(table, spread)


def _spreads(table: PrintedTable) -> Iterator[_Spread]:
    for index, column in enumerate(table.columns):
        if column.metric == "share" and column.kind in ("benchmark", "micro", "macro", "average"):
            for row, cell in table.cells(index):
                if (sd := table.sd(row, index)) is not None:
                    yield _Spread(f"{row}, {column}", column, cell, sd)


def _in_range(spread: _Spread, seeds: int) -> bool:
    """Whether shares between 0 and 1 can vary so much."""
    return any(
        max(Fraction(0), spread.deviation(printing, seeds, 2).low) ** 2
        <= largest_variance(spread.mean(printing, 2), seeds)
        for printing in PRINTINGS
    )


def _some_counts(spread: _Spread, seeds: int) -> bool:
    """Try means of exact shares, then of printed ones, both rounded and truncated.

    Of an impossible mean the cell is asked about, and not its deviation too.
    """
    n = spread.column.n
    if spread.column.kind != "benchmark" or not n:
        return True
    return not printings(spread.column, seeds, spread.cell) or any(
        possible(spread.mean(printing, times), spread.deviation(printing, seeds, times), n, seeds)
        for times in (1, 2)
        for printing in PRINTINGS
    )


def _too_large(table: PrintedTable, spread: _Spread) -> Finding:
    whole, mean, seeds = spread.column.whole, spread.cell.value, table.seeds or LEAST
    bound = sqrt(float(mean * (whole - mean)) * seeds / (seeds - 1))
    return Finding(
        "impossible" if table.sd_declared else "notable",
        CHECK,
        spread.where,
        "Is this a standard deviation over seeds?",
        f"{spread.sd} is printed; numbers from 0 to {whole} with the mean {mean} have at most "
        f"{bound:.2f}, in {seeds} runs",
    )


def _no_counts(table: PrintedTable, spread: _Spread) -> Finding:
    declared = table.sd_declared and table.sizes_declared
    return Finding(
        "impossible" if declared else "notable",
        CHECK,
        spread.where,
        f"Which numbers of right items of {spread.column.n} have this standard deviation?",
        f"no {table.seeds} counts have the mean {spread.cell.value} and the standard deviation "
        f"{spread.sd}, by seeds - 1 or by seeds",
    )
