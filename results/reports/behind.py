"""The runs behind the cells of a table."""

from collections.abc import Iterator
from typing import NamedTuple

from results.analysis.table import Table, TableRow


class Behind(NamedTuple):
    """The ids of the runs that some cells of a row are the mean of."""

    backbone: str
    method: str
    columns: str
    runs: str


def behind(table: Table) -> Iterator[Behind]:
    """List the runs of each row; its columns share them unless one lacks some."""
    for block in table.blocks:
        for row in block.rows:
            for ids, columns in _by_runs(row).items():
                yield Behind(block.backbone, row.label, ", ".join(columns), " ".join(ids))


def _by_runs(row: TableRow) -> dict[tuple[str, ...], list[str]]:
    found: dict[tuple[str, ...], list[str]] = {}
    for cell in row.cells:
        found.setdefault(cell.runs, []).append(cell.column)
    return {ids: columns if len(found) > 1 else ["all"] for ids, columns in found.items() if ids}
