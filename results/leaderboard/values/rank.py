"""The ranking: methods by benchmarks, as values that the page and the API share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from results.analysis.metrics import Metric
from results.analysis.runs.recipes import is_trained
from results.analysis.series import unique
from results.analysis.table import Block, Table, TableRow
from results.leaderboard.source import Opened
from results.leaderboard.values.cells import CellValue, cell_value, with_bars
from results.leaderboard.values.tables import found, passes
from results.leaderboard.view import View
from results.record import Run
from results.reports import costs, prose
from results.reports.sheets.notes import lines, notes
from results.reports.sheets.shown import overall
from results.reports.testing import MODELS

FACTS = ("method", "parameters", "time", "memory", "size", "seeds")
"""What rows can be sorted by besides the columns of scores."""

DIGITS = 8
"""Of the id of an environment, in an address."""

ONE_SEED = f"One seed: this view ranks nothing beyond item noise. {MODELS}."


@dataclass(frozen=True)
class Badge:
    """A word of warning beside a row, and what is behind it."""

    kind: str
    text: str
    details: tuple[str, ...]


@dataclass(frozen=True)
class RowValue:
    """A method on a backbone; costs are means over its runs."""

    method: str
    cells: tuple[CellValue, ...]
    ranks: tuple[int, int] | None
    """The ranks that tests leave to it in the first average."""
    top_band: bool
    trained: bool
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


@dataclass(frozen=True)
class TableValue:
    """The runs that may be compared, in one metric."""

    title: str
    metric: str
    protocol: str
    era: str
    environment: str
    seeds: tuple[int, ...]
    one_seed: str
    """What a reader must know of a view of one seed; empty otherwise."""
    marks: tuple[str, ...]
    columns: tuple[str, ...]
    overall: str
    """The column that ranks the rows unless another is asked for."""
    blocks: tuple[BlockValue, ...]
    banded: bool
    """Whether any cell is of a top band."""
    notes: tuple[str, ...]
    refusal: str


@dataclass(frozen=True)
class RankPage:
    """A view of the store, and what else may be chosen."""

    view: View
    groups: tuple[str, ...]
    backbones: tuple[str, ...]
    methods: tuple[str, ...]
    columns: tuple[str, ...]
    protocols: tuple[str, ...]
    eras: tuple[str, ...]
    tables: tuple[TableValue, ...]
    tables_of: int
    """Tables before some were hidden by protocol and era."""


def rank_page(opened: Opened, asked: View) -> RankPage:
    """Make the values of a view.

    Raises:
        ResultsError: There is no such group or backbone.
    """
    view = opened.completed(asked)
    made = found(opened, view)
    shown = [table for table in made.tables if passes(table, view)]
    return RankPage(
        view=view,
        groups=opened.groups,
        backbones=opened.backbones(view.group),
        methods=unique(
            [row.label for row in block.rows] for one in made.tables for block in one.blocks
        ),
        columns=unique(table.columns for table in made.tables),
        protocols=unique([table.conditions.protocol] for table in made.tables),
        eras=unique([_era(table)] for table in made.tables if _era(table)),
        tables=tuple(_Shown(table, view, made.runs).table() for table in shown),
        tables_of=len(made.tables),
    )


def _era(table: Table) -> str:
    return table.conditions.environment_id[:DIGITS]


@dataclass(frozen=True)
class _Shown:
    """A table, how it is looked at, and its runs by id."""

    of: Table
    view: View
    runs: Mapping[str, Run]

    def table(self) -> TableValue:
        table = self.of
        blocks = tuple(map(self._block, table.blocks))
        one_seed = len(table.seeds) == 1 and bool(table.blocks)
        return TableValue(
            title=prose.title(table),
            metric=table.metric.name,
            protocol=prose.how(table.conditions.protocol, table.conditions.changed),
            era=_era(table),
            environment=table.conditions.environment,
            seeds=table.seeds,
            one_seed=ONE_SEED if one_seed else "",
            marks=table.conditions.marks,
            columns=self.columns,
            overall=overall(table),
            blocks=blocks,
            banded=any(c.top_band for block in blocks for row in block.rows for c in row.cells),
            notes=tuple(lines(notes([table], command=""))),
            refusal=table.refusal,
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are not hidden; all if the view names none of them."""
        wanted = tuple(name for name in self.of.columns if name in self.view.columns)
        return wanted or self.of.columns

    def _block(self, block: Block) -> BlockValue:
        by_column = [
            with_bars([cell_value(self.of.metric, cell, self.runs) for cell in column])
            for column in zip(*(row.cells for row in block.rows), strict=True)
        ]
        cells = list(zip(*by_column, strict=True))
        rows = [self._row(row, own) for row, own in zip(block.rows, cells, strict=True)]
        kept = [row for row in rows if self._is_wanted(row)]
        return BlockValue(block.backbone, tuple(self._sorted(kept)), len(rows), block.absent)

    def _is_wanted(self, row: RowValue) -> bool:
        named = not self.view.methods or row.method in self.view.methods
        return named and self.view.search.casefold() in row.method.casefold()

    def _row(self, row: TableRow, cells: Sequence[CellValue]) -> RowValue:
        first = next(cell for cell in cells if cell.column == overall(self.of))
        known = [self.runs[run] for run in first.runs if run in self.runs]
        return RowValue(
            method=row.label,
            cells=tuple(cell for cell in cells if cell.column in self.columns),
            ranks=first.ranks,
            top_band=first.top_band,
            trained=not known or is_trained(known[0]),
            parameters=row.trainable_percent,
            parameters_text=prose.trainable(row),
            seeds=row.seeds,
            time=row.costs.training_seconds,
            time_text=costs.seconds(row.costs.training_seconds),
            memory=row.costs.peak_memory_bytes,
            memory_text=costs.size(row.costs.peak_memory_bytes),
            size=row.costs.adapter_bytes,
            size_text=costs.size(row.costs.adapter_bytes),
            badges=tuple(_badges(row, known)),
            notes=row.notes,
            keys=_keys(row, self.of.metric),
        )

    def _sorted(self, rows: Sequence[RowValue]) -> list[RowValue]:
        """Sort rows; those without a number come last in both directions."""
        by = self.view.sort or overall(self.of)
        known = [row for row in rows if by in row.keys]
        known.sort(key=lambda row: row.keys[by], reverse=self.view.reverse)
        return known + [row for row in rows if by not in row.keys]


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
    return {"method": row.label.casefold(), **known, **scores}


def _badges(row: TableRow, runs: Sequence[Run]) -> Iterable[Badge]:
    """Give the warnings of a row: what its answers, its seeds and its data have of their own."""
    flags = unique(row.flags.values())
    if flags:
        yield Badge("flags", f"{len(flags)} flag{'s' if len(flags) > 1 else ''}", flags)
    missing: dict[str, list[str]] = {}
    for seed, why in sorted({pair for cell in row.cells for pair in cell.missing.items()}):
        missing.setdefault(why.partition(":")[0], []).append(f"seed {seed}: {why}")
    for word, details in missing.items():
        yield Badge("missing", f"{len(details)} {word}", tuple(details))
    shared = set.intersection(*(set(run.marks) for run in runs)) if runs else set()
    own = tuple(mark for mark in unique(run.marks for run in runs) if mark not in shared)
    if own:
        yield Badge("data", "data differ", own)
