"""What papers print in the columns of a table: shown below the rows, never ranked or tested."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from results.analysis.metrics import Metric
from results.analysis.published import PrintedRow, rows
from results.analysis.table import Block, Table
from results.audit import papers
from results.audit.figures import Figure
from results.audit.papers import Paper
from results.reports import published


@dataclass(frozen=True)
class PrintedCell:
    """A printed number, in the unit of the table."""

    column: str
    value: float | None
    text: str
    """With the digits that are printed; empty where the paper prints none."""


@dataclass(frozen=True)
class PublishedRow:
    """A method as a paper prints it."""

    method: str
    """As the paper writes it."""
    label: str
    """The row here of the same method; empty if there is none."""
    cells: tuple[PrintedCell, ...]
    parameters: str


@dataclass(frozen=True)
class Published:
    """What a paper prints on the backbone of a block."""

    paper: str
    title: str
    tables: tuple[str, ...]
    """The tables of the paper that the numbers are from."""
    rows: tuple[PublishedRow, ...]


@dataclass(frozen=True)
class PaperChoice:
    """A paper that prints numbers in the columns of a page."""

    name: str
    title: str


def offered(tables: Sequence[Table]) -> tuple[PaperChoice, ...]:
    """List the papers that print anything in the columns of some tables."""
    return tuple(
        PaperChoice(paper.name, paper.title)
        for paper in map(_paper, papers.names())
        if any(of_block for table in tables for of_block in rows(table, paper))
    )


def printed(table: Table, name: str) -> list[Published | None]:
    """Give for each block of a table what a paper prints; None where that is nothing."""
    paper = _paper(name) if name else None
    pairs = zip(table.blocks, rows(table, paper), strict=True)
    return [
        _published(paper, table, block, found) if paper and found else None
        for block, found in pairs
    ]


@cache
def _paper(name: str) -> Paper:
    # Sizes of test sets tell the error of a number, which is not shown here.
    return papers.paper(name, {})


def _published(paper: Paper, table: Table, block: Block, found: Sequence[PrintedRow]) -> Published:
    every = [figure for row in found for figure in row.figures if figure]
    return Published(
        paper=paper.name,
        title=paper.title,
        tables=tuple(dict.fromkeys(one.table.partition(", ")[2] or one.table for one in every)),
        rows=tuple(
            PublishedRow(
                method=row.method,
                label="" if row.below is None else block.rows[row.below].label,
                cells=tuple(
                    _cell(table.metric, column, figure)
                    for column, figure in zip(table.columns, row.figures, strict=True)
                ),
                parameters=published.trainable(row),
            )
            for row in found
        ),
    )


def _cell(metric: Metric, column: str, figure: Figure | None) -> PrintedCell:
    if figure is None:
        return PrintedCell(column, None, "")
    return PrintedCell(column, metric.points(figure.value), published.score(metric, figure))
