"""A printed table as a value: what every reader fills, and every check is given.

A reader fills, from the text alone: the title, a column for each column of numbers, a row for each
line, and a cell for each number, with its text, value, standard deviation and marks. It leaves out
columns of words, and rows of heads. It writes values without thousands separators, percent signs
and stars, and replaces macros of the source by what they print.

From what the table, its paper or the user says of it, it fills: the kind of each column, the size
of its test set, the number of seeds. What nobody says stays None, and lowers the grade of findings.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

Kind = Literal["benchmark", "micro", "macro", "average", "parameters", "sd", "p", "other"]
"""What a column prints: the score of one benchmark; an average of the benchmarks beside it, over
items, over benchmarks, or either; trainable parameters in percent; the standard deviation of
another column; p-values of another column; anything else."""

Metric = Literal["share", "other"]
"""A share of right items, k of n; or a number that no counting gives, such as a perplexity."""


@dataclass(frozen=True)
class Column:
    """A column of numbers."""

    title: str
    """As it is printed, without arrows and units."""
    kind: Kind
    metric: Metric = "share"
    """Of benchmarks and their averages."""
    whole: int = 100
    """What a share of one prints as: 100 in percent, otherwise 1."""
    n: int | None = None
    """Items of the test set of a benchmark; None if unknown."""
    higher_is_better: bool = True
    above: str = ""
    """The head over several columns, such as a backbone; an average is of the benchmarks below
    the same head."""
    of: int | None = None
    """The column, counted from 0, of which this one prints standard deviations or p-values."""

    def __str__(self) -> str:
        """Name it by its heads.

        >>> str(Column("PPL", "other", above="Llama 2 7B"))
        'Llama 2 7B PPL'
        """
        return f"{self.above} {self.title}".strip()


@dataclass(frozen=True)
class Cell:
    """A printed number."""

    text: str
    """As it stands in the source, marks included."""
    value: Decimal
    """With all the decimals that are printed: `Decimal("71.50")`, not `Decimal("71.5")`."""
    sd: Decimal | None = None
    """What is printed behind a plus-minus sign."""
    bold: bool = False
    underlined: bool = False
    star: bool = False
    below: bool = False
    """Whether a "<" stands before the number, as in "p < 0.05"."""

    @property
    def decimals(self) -> int:
        """Count the digits behind the point.

        >>> Cell("71.50", Decimal("71.50")).decimals
        2
        """
        return decimals(self.value)


def decimals(value: Decimal) -> int:
    """Count the digits behind the point of a printed number."""
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    return max(0, -exponent)


@dataclass(frozen=True)
class Row:
    """The numbers of one method."""

    group: str
    """The block that the row stands in, such as a backbone; empty if the table has no blocks."""
    method: str
    """As it is printed."""
    cells: tuple[Cell | None, ...]
    """One for each column; None where nothing is printed, or a dash."""

    def __str__(self) -> str:
        """Name it by block and method."""
        return f"{self.group}, {self.method}" if self.group else self.method


@dataclass(frozen=True)
class PrintedTable:
    """A table, and what is declared of it."""

    title: str
    """How a report names it, such as "DyPAM, tab:main_math"."""
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    paper: str = ""
    """Whose configurations of the methods the rows are of, such as "dypam"; empty if unknown."""
    seeds: int | None = None
    """Training runs behind each cell; None if unknown. One if a single run is printed."""
    sizes_declared: bool = False
    """Whether the source or the user states the sizes of the test sets; False if they are the usual
    ones of benchmarks of these names."""
    sd_declared: bool = False
    """Whether the source says that what is printed as a spread is the standard deviation over
    seeds; it might be a standard error."""
    against: str = ""
    """The method that p-values and stars compare with; empty for the best other of the block."""
    star: Decimal | None = None
    """The p that a star says to be above its own; None if nothing is said."""

    def blocks(self) -> dict[str, list[Row]]:
        """Gather the rows by group, in their order."""
        found: dict[str, list[Row]] = {}
        for row in self.rows:
            found.setdefault(row.group, []).append(row)
        return found

    def cells(self, column: int) -> Iterator[tuple[Row, Cell]]:
        """Go through the printed cells of a column, counted from 0."""
        for row in self.rows:
            if cell := row.cells[column]:
                yield row, cell

    def benchmarks(self, average: Column) -> list[int]:
        """List the columns that an average is taken of, counted from 0."""
        return [
            index
            for index, column in enumerate(self.columns)
            if column.kind == "benchmark" and column.above == average.above
        ]

    def sd(self, row: Row, column: int) -> Decimal | None:
        """Give the standard deviation of a cell, from the cell or from a column of its own."""
        cell = row.cells[column]
        if cell and cell.sd is not None:
            return cell.sd
        beside = (
            found
            for one, found in zip(self.columns, row.cells, strict=True)
            if one.kind == "sd" and one.of == column and found
        )
        return next((found.value for found in beside), None)
