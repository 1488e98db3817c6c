"""Which cells can be shares of right items, and what they tell of how a table was printed."""

from results.audit.counting import Possible, possible
from results.audit.interval import PRINTINGS, ROUNDED, TRUNCATED, Printing
from results.audit.table import Cell, Column, PrintedTable


def countable(table: PrintedTable) -> list[int]:
    """List the columns whose cells are shares of a known number of items."""
    return [
        index
        for index, column in enumerate(table.columns)
        if column.kind == "benchmark" and column.metric == "share" and column.n
    ]


def fits(column: Column, seeds: int, cell: Cell, printing: Printing) -> bool:
    """Whether a cell is a possible share of right items, cut to its digits in one way."""
    return units(cell) in ways(column, seeds, cell, printing)


def printings(column: Column, seeds: int, cell: Cell) -> list[Printing]:
    """List the ways of printing in which a cell is possible."""
    return [one for one in PRINTINGS if fits(column, seeds, cell, one)]


def ways(column: Column, seeds: int, cell: Cell, printing: Printing) -> Possible:
    """List the possible values of a column of a known size, with the digits of a cell."""
    assert column.n
    return possible(column.n, seeds, column.whole * 10**cell.decimals, printing)


def units(cell: Cell) -> int:
    """Count the units of the last digit in a cell."""
    return int(cell.value.scaleb(cell.decimals))


def only(table: PrintedTable, printing: Printing) -> list[str]:
    """Name the cells that are possible in one way of printing and not in the other.

    Columns of another size or number of seeds than is taken tell nothing: one that has impossible
    cells is left out, unless both are declared.
    """
    found = []
    for index in countable(table):
        column, cells = table.columns[index], list(table.cells(index))
        explained = [printings(column, table.seeds or 1, cell) for _, cell in cells]
        if all(explained) or (table.seeds and table.sizes_declared):
            found += [
                f"{cell.value} at {row}, {column}"
                for (row, cell), by in zip(cells, explained, strict=True)
                if by == [printing]
            ]
    return found


def printed(table: PrintedTable) -> str:
    """Say how the digits of the table were cut, as far as its cells tell.

    Returns:
        "rounded", "truncated", "some rounded and some truncated", or "rounded or truncated".
    """
    told = [printing.name for printing in (ROUNDED, TRUNCATED) if only(table, printing)]
    if len(told) == 1:
        return told[0]
    return "some rounded and some truncated" if told else "rounded or truncated"
