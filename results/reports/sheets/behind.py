"""The runs behind the cells of a table."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from results.analysis.table import Table, TableRow


class Behind(NamedTuple):
    """The ids of the runs that some cells of a row are the mean of."""

    backbone: str
    method: str
    columns: str
    runs: str


def behind(tables: Iterable[Table]) -> tuple[Behind, ...]:
    """List the runs of each row, once; its columns share them unless one lacks some."""
    return tuple(dict.fromkeys(chain(*map(_behind, tables))))


def _behind(table: Table) -> Iterator[Behind]:
    for block in table.blocks:
        for row in block.rows:
            for ids, columns in _by_runs(row).items():
                yield Behind(block.backbone, row.label, ", ".join(columns), " ".join(ids))


def _by_runs(row: TableRow) -> dict[tuple[str, ...], list[str]]:
    found: dict[tuple[str, ...], list[str]] = {}
    for cell in row.cells:
        found.setdefault(cell.runs, []).append(cell.column)
    return {ids: columns if len(found) > 1 else ["all"] for ids, columns in found.items() if ids}
