"""Which tables, columns and rows are printed of those that were compared."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from results.analysis.series import unique
from results.analysis.table import Block, Table
from results.errors import ResultsError, unknown
from results.reports import prose
from results.reports.sheets.printing import Printing
from results.reports.sheets.shown import only


def chosen(tables: Sequence[Table], printing: Printing) -> list[Table]:
    """Keep what is to be printed; no rank and no test changes.

    Raises:
        ResultsError: The tables have nothing of a name; it gives the nearest.
    """
    found = _on(_of(tables, printing.protocol), printing.environment)
    return _with_rows(_with_columns(found, printing.columns), printing.methods)


def _of(tables: Sequence[Table], protocol: str) -> Sequence[Table]:
    if not protocol:
        return tables
    protocols = unique([table.conditions.protocol] for table in tables)
    (wanted,) = _meant("protocol", [protocol], protocols)
    return [table for table in tables if table.conditions.protocol == wanted]


def _on(tables: Sequence[Table], environment: str) -> Sequence[Table]:
    found = [one for one in tables if one.conditions.environment_id.startswith(environment)]
    if tables and not found:
        ids = {table.conditions.environment_id[: prose.DIGITS] for table in tables}
        raise ResultsError(unknown("environment", environment, ids))
    return found


def _with_columns(tables: Sequence[Table], columns: Sequence[str]) -> Sequence[Table]:
    """Keep only some columns, in the order asked for, and the tables that have any of them."""
    if not columns:
        return tables
    wanted = _meant("column", columns, unique(table.columns for table in tables))
    kept = [(table, [name for name in wanted if name in table.columns]) for table in tables]
    return [only(table, names) for table, names in kept if names]


def _with_rows(tables: Sequence[Table], methods: Sequence[str]) -> list[Table]:
    """Keep only the rows of some methods; what has none of them is left out."""
    if not methods:
        return list(tables)
    blocks = [block for table in tables for block in table.blocks]
    wanted = _meant("method", methods, unique([row.label for row in one.rows] for one in blocks))
    kept = (
        replace(
            table, blocks=tuple(part for one in table.blocks if (part := _part(one, wanted)).rows)
        )
        for table in tables
    )
    return [table for table in kept if table.blocks]


def _part(block: Block, wanted: Sequence[str]) -> Block:
    return replace(
        block,
        rows=tuple(row for row in block.rows if row.label in wanted),
        absent=tuple(name for name in block.absent if name in wanted),
        hidden={
            row.label: {cell.column: cell.rank for cell in row.cells}
            for row in block.rows
            if row.label not in wanted
        },
    )


def _meant(kind: str, typed: Iterable[str], names: Sequence[str]) -> list[str]:
    """Find each name, or the one that differs in capitals alone; each once, in the order typed.

    Raises:
        ResultsError: There is no such name.
    """
    by_lower = {name.lower(): name for name in names}
    found = {one: one if one in names else by_lower.get(one.lower()) for one in typed}
    faults = [unknown(kind, one, names) for one, name in found.items() if name is None]
    if faults:
        raise ResultsError("\n".join(faults))
    return list(dict.fromkeys(filter(None, found.values())))
