"""The cells of a table in LaTeX, and the tabulars that show them part by part."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from results.analysis.ranking import Cell
from results.analysis.table import Block, Table
from results.reports import beside, prose
from results.reports.formats.latex.fit import Fit, height, name_lines
from results.reports.formats.latex.text import escaped, width
from results.reports.layout import Layout, ranked

WRAPS: dict[int | None, str] = {1: r"\textbf{%s}", 2: r"\underline{%s}"}
ABOUT = 10
"""The type size at which headings and cells are compared, in pt."""


@dataclass(frozen=True)
class Row:
    """A method: its name, and its cells in all parts."""

    name: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Grid:
    """All that the tabulars of one table show."""

    headings: tuple[tuple[str, ...], ...]
    """Of each column of numbers, in one line or several."""
    blocks: tuple[tuple[str, tuple[Row, ...]], ...]
    """Of each backbone its name and its methods."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """The methods of all backbones."""
        return tuple(row for _, rows in self.blocks for row in rows)

    @property
    def columns(self) -> list[list[str]]:
        """What stands in each column of numbers."""
        cells = zip(*(row.cells for row in self.rows), strict=True)
        return [[*lines, *column] for lines, column in zip(self.headings, cells, strict=True)]

    def height(self, how: Fit) -> float:
        """Estimate the height of a tabular, in pt."""
        lines = max(map(len, self.headings)) + len(self.blocks)
        lines += sum(name_lines(row.name, how) for row in self.rows)
        return height(lines, len(self.blocks), how.size)


def grid(table: Table, layout: Layout) -> Grid:
    """Write the cells of a table."""
    starred = {
        cell.column
        for block in table.blocks
        for row in block.rows
        for cell in row.cells
        if cell.significantly_best
    }
    blocks = tuple(
        (escaped(block.backbone), tuple(_rows(table, block, starred, layout)))
        for block in table.blocks
    )
    numbers = zip(*(row.cells for _, rows in blocks for row in rows), strict=True)
    titles = beside.header(table, layout)
    headings = (_heading(title, cells) for title, cells in zip(titles, numbers, strict=True))
    return Grid(tuple(headings), blocks)


def tabular(shown: Grid, part: slice, how: Fit) -> str:
    """Write some of the columns, with the names of backbones and methods.

    Where there are several parts, each is as wide as the text, so that they are equally wide.
    """
    headings = [_stacked(lines) for lines in shown.headings[part]]
    span, numbers = 1 + len(headings), "r" * len(headings)
    whole = len(how.parts) == 1
    name = "tabular" if whole else "tabular*"
    columns = (
        f"{{l{numbers}}}" if whole else rf"{{\linewidth}}{{l@{{\extracolsep{{\fill}}}}{numbers}}}"
    )
    lines = [rf"\begin{{{name}}}{columns}", r"\toprule"]
    lines.append(" & ".join(["method", *headings]) + r" \\")
    for backbone, rows in shown.blocks:
        lines += [r"\midrule", rf"\multicolumn{{{span}}}{{l}}{{\textit{{{backbone}}}}} \\"]
        lines += [" & ".join([_name(row.name, how), *row.cells[part]]) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", rf"\end{{{name}}}"])


def _rows(table: Table, block: Block, starred: set[str], layout: Layout) -> Iterator[Row]:
    differing = ranked(block)
    for row in block.rows:
        cells = [
            _cell(table, cell, cell.column in differing, cell.column in starred, layout.spread)
            for cell in row.cells
        ]
        numbers = beside.numbers(table, row, cells, layout)
        dashed = ("--" if one == "-" else one for one in numbers)
        yield Row(escaped(prose.label(row)), tuple(dashed))


def _cell(table: Table, cell: Cell, marked: bool, starred: bool, spread: bool) -> str:
    if cell.sample.mean is None:
        return prose.missing(cell)
    mean, _, sd = prose.mean(table.metric, cell.sample, spread).partition(" ± ")
    wrap = WRAPS.get(cell.rank, "%s") if marked else "%s"
    star = "*" if cell.significantly_best else r"\phantom{*}" if starred else ""
    return wrap % mean + (rf"$\pm${sd}" if sd else "") + star


def _heading(title: str, cells: Sequence[str]) -> tuple[str, ...]:
    """Break a title that is wider than the cells: at spaces, hyphens and inner capitals."""
    if width(escaped(title), ABOUT) <= max(width(cell, ABOUT) for cell in cells):
        return (escaped(title),)
    hyphenated = re.sub(r"(?<=[a-z]{3})(?=[A-Z][a-z]{3})", "-", title)
    return tuple(map(escaped, re.findall(r"[^\s-]+-?", hyphenated)))


def _stacked(lines: Sequence[str]) -> str:
    if len(lines) == 1:
        return lines[0]
    stacked = r"\\".join(lines)
    return rf"\begin{{tabular}}[b]{{@{{}}r@{{}}}}{stacked}\end{{tabular}}"


def _name(name: str, how: Fit) -> str:
    if name_lines(name, how) == 1:
        return name
    return rf"\parbox[t]{{{how.name:.0f}pt}}{{\raggedright {name}\strut}}"
