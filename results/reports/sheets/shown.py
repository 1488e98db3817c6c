"""The columns of a table: those that sum up, those that repeat, those that rank."""

from collections.abc import Callable, Collection
from dataclasses import replace

from results.analysis.columns import CLEAN_COLUMNS
from results.analysis.table import Block, Table, TableRow
from results.record import POOLED
from results.reports.sheets.printing import Printing

AVERAGES = ("micro", POOLED, "macro")


def without_idle_averages(table: Table, printing: Printing) -> Table:
    """Leave out averages over one benchmark, which repeat its numbers, unless asked for."""
    if printing.columns or len(table.benchmarks) > 1:
        return table
    return only(table, [name for name in table.columns if name not in AVERAGES])


def benchmarks(table: Table) -> list[str]:
    """Name the columns that are no averages."""
    return [name for name in table.columns if name not in (*AVERAGES, *CLEAN_COLUMNS)]


def overall(table: Table) -> str:
    """Name the column that sums up the others: the first average, or the first column."""
    return next((name for name in AVERAGES if name in table.columns), table.columns[0])


def ranked(block: Block) -> frozenset[str]:
    """Name the columns in which methods differ: where all are equal, none is best."""
    shown = [(cell.column, cell.rank) for row in block.rows for cell in row.cells]
    hidden = [pair for ranks in block.hidden.values() for pair in ranks.items()]
    return frozenset(column for column, rank in (*shown, *hidden) if (rank or 0) > 1)


def only(table: Table, names: Collection[str]) -> Table:
    """Keep only some columns, in the order given."""

    def of_row(row: TableRow) -> TableRow:
        cells = {cell.column: cell for cell in row.cells}
        return replace(row, cells=tuple(cells[name] for name in names))

    return replace(each_row(table, of_row), columns=tuple(names))


def each_row(table: Table, change: Callable[[TableRow], TableRow]) -> Table:
    """Change every row of a table."""
    blocks = (replace(block, rows=tuple(map(change, block.rows))) for block in table.blocks)
    return replace(table, blocks=tuple(blocks))
