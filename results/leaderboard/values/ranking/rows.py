"""The rows of a ranking: what is known of a method on a backbone, and what sorts and hides it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from results.analysis.metrics import Metric
from results.analysis.ranking import Cell
from results.analysis.table import Block, Table, TableRow
from results.leaderboard.values.ranking.badges import Badge, of_row
from results.leaderboard.values.ranking.cells import CellValue, cell_value, with_bars
from results.leaderboard.values.ranking.printed import Published, PublishedRow
from results.leaderboard.view import View
from results.record import Run
from results.reports import costs, prose
from results.reports.sheets.shown import overall
from results.reports.sheets.titles import method_title

MOST = 100
"""Characters of a name that sort it."""

FACTS = ("method", "parameters", "time", "memory", "size", "seeds")
"""What rows can be sorted by besides the columns of scores."""


@dataclass(frozen=True)
class RowValue:
    """A method on a backbone; costs are means over its runs."""

    method: str
    """As the command line writes it."""
    title: str
    """As papers write it."""
    cells: tuple[CellValue, ...]
    ranks: tuple[int, int] | None
    """The ranks that tests leave to it in the first average."""
    top_band: bool
    trained: bool
    """An untrained backbone has neither rank nor test."""
    parameters: float | None
    """Trainable, in percent."""
    parameters_text: str
    seeds: tuple[int, ...]
    time: float | None
    """Of the training, in seconds."""
    time_text: str
    memory: float | None
    """The peak, in bytes."""
    memory_text: str
    size: float | None
    """Of the adapter, in bytes."""
    size_text: str
    badges: tuple[Badge, ...]
    notes: tuple[str, ...]
    keys: Mapping[str, float | str]
    """What sorts it, by column or fact, the smaller first; none where it has no number."""


@dataclass(frozen=True)
class BlockValue:
    """The methods on one backbone, which are tested as one family."""

    backbone: str
    rows: tuple[RowValue, ...]
    of: int
    """Methods before some were hidden."""
    absent: tuple[str, ...]
    published: Published | None
    """What a paper prints, if the view asks for one."""


@dataclass(frozen=True)
class Rows:
    """Makes the rows of a table as a view looks at them."""

    of: Table
    view: View
    columns: tuple[str, ...]
    """Those that are not hidden, in their order."""
    sort: str
    """The column or fact that sorts them."""
    runs: Mapping[str, Run]
    """By id."""
    titles: Mapping[str, str]
    marks: frozenset[str]
    """What holds for the whole table, and is said above it."""

    def block(self, block: Block, published: Published | None) -> BlockValue:
        """Make the rows on one backbone, sorted, without those that the view hides."""
        trained = [row.trained for row in block.rows]
        by_column = [
            with_bars([self._cell(cell) for cell in among_trained(column, trained)], trained)
            for column in zip(*(row.cells for row in block.rows), strict=True)
        ]
        cells = list(zip(*by_column, strict=True))
        rows = [self._row(block, *one) for one in zip(block.rows, cells, trained, strict=True)]
        kept = [row for row in rows if self.view.shows(row.method, row.title)]
        return BlockValue(
            backbone=block.backbone,
            rows=tuple(self._sorted(kept)),
            of=len(rows),
            absent=tuple(method_title(name, self.titles) for name in block.absent),
            published=self._published(published) if published else None,
        )

    def _cell(self, cell: Cell) -> CellValue:
        return cell_value(self.of.metric, cell, self.runs, self.titles)

    def _row(
        self, block: Block, row: TableRow, cells: Sequence[CellValue], trained: bool
    ) -> RowValue:
        first = next(cell for cell in cells if cell.column == overall(self.of))
        by_name = {cell.column: cell for cell in cells}
        alone = replace(self.of, blocks=(replace(block, rows=(row,)),))
        title = method_title(row.label, self.titles)
        return RowValue(
            method=row.label,
            title=title,
            cells=tuple(by_name[name] for name in self.columns),
            ranks=first.ranks,
            top_band=first.top_band,
            trained=trained,
            parameters=row.trainable_percent,
            parameters_text=prose.trainable(row),
            seeds=row.seeds,
            time=row.costs.training_seconds,
            time_text=costs.seconds(row.costs.training_seconds),
            memory=row.costs.peak_memory_bytes,
            memory_text=costs.size(row.costs.peak_memory_bytes),
            size=row.costs.adapter_bytes,
            size_text=costs.size(row.costs.adapter_bytes),
            badges=of_row(row, alone, self.runs, self.marks, self.titles),
            notes=row.notes,
            keys={"method": title.casefold()[:MOST], **_keys(row, self.of.metric)},
        )

    def _published(self, found: Published) -> Published:
        rows = (one for one in found.rows if self.view.shows(one.label or one.method, one.method))
        return replace(found, rows=tuple(map(self._shown, rows)))

    def _shown(self, row: PublishedRow) -> PublishedRow:
        by_name = {cell.column: cell for cell in row.cells}
        return replace(row, cells=tuple(by_name[name] for name in self.columns))

    def _sorted(self, rows: Sequence[RowValue]) -> list[RowValue]:
        """Sort rows; equal ones, in both directions, as the first average does."""
        return _by(self.sort, _by(overall(self.of), rows), self.view.reverse)


def _by(name: str, rows: Sequence[RowValue], reverse: bool = False) -> list[RowValue]:
    """Sort rows by one of their keys; those without it come last in both directions."""
    known = [row for row in rows if name in row.keys]
    known.sort(key=lambda row: row.keys[name], reverse=reverse)
    return known + [row for row in rows if name not in row.keys]


def among_trained(column: Sequence[Cell], trained: Sequence[bool]) -> list[Cell]:
    """Rank the trained methods of a column among themselves; one alone has no rank."""
    untrained = [one.rank for one, is_one in zip(column, trained, strict=True) if not is_one]
    numbers = [one for one, is_one in zip(column, trained, strict=True) if is_one and one.rank]

    def ranked(cell: Cell, is_one: bool) -> Cell:
        if cell.rank is None or not is_one or len(numbers) == 1:
            return replace(cell, rank=None)
        before = sum(rank is not None and rank < cell.rank for rank in untrained)
        return replace(cell, rank=cell.rank - before)

    return [ranked(*one) for one in zip(column, trained, strict=True)]


def _keys(row: TableRow, metric: Metric) -> dict[str, float | str]:
    """Give what sorts a row: scores the best first, everything else the least first."""
    facts = {
        "parameters": row.trainable_percent,
        "time": row.costs.training_seconds,
        "memory": row.costs.peak_memory_bytes,
        "size": row.costs.adapter_bytes,
        "seeds": float(len(row.seeds)),
    }
    means = {cell.column: cell.sample.mean for cell in row.cells}
    scores = {name: -metric.merit(mean) for name, mean in means.items() if mean is not None}
    known = {name: value for name, value in facts.items() if value is not None}
    return {**known, **scores}
