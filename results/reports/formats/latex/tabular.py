"""The cells of a sheet in LaTeX, and the tabulars that show them part by part."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from results.reports.formats.latex.fit import Fit, height, name_lines
from results.reports.formats.latex.text import cut, escaped, width
from results.reports.sheets.sheet import Mark, Printed, Sheet

WRAPS: dict[Mark, str] = {"best": r"\textbf{%s}", "second": r"\underline{%s}", "": "%s"}
ABOUT = 10
"""The type size at which headings and cells are compared, in pt."""


@dataclass(frozen=True)
class Row:
    """A method: its name, and its cells in all parts."""

    name: str
    cells: tuple[str, ...]


Blocks = tuple[tuple[str, tuple[Row, ...]], ...]


@dataclass(frozen=True)
class Grid:
    """All that the tabulars of one sheet show."""

    over: tuple[str, ...]
    """What is above the heading of each column of numbers, the same for neighbours."""
    headings: tuple[tuple[str, ...], ...]
    """Of each column of numbers, in one line or several."""
    blocks: Blocks
    """Of each group its title and its rows."""

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows of all groups."""
        return tuple(row for _, rows in self.blocks for row in rows)

    @property
    def columns(self) -> list[list[str]]:
        """What stands in each column of numbers."""
        cells = zip(*(row.cells for row in self.rows), strict=True)
        return [[*lines, *column] for lines, column in zip(self.headings, cells, strict=True)]

    def height(self, how: Fit) -> float:
        """Estimate the height of a tabular, in pt."""
        lines = any(self.over) + max(map(len, self.headings)) + len(self.blocks)
        lines += sum(name_lines(row.name, how) for row in self.rows)
        return height(lines, len(self.blocks), how.size)

    def lower(self, how: Fit, most: float) -> list["Grid"]:
        """Divide the rows into grids of at most so many pt, between groups if it can."""
        if self.height(how) <= most or len(self.rows) == 1:
            return [self]
        middle = len(self.blocks) // 2
        halves = [self.blocks[:middle], self.blocks[middle:]] if middle else self._halved()
        return [one for half in halves for one in replace(self, blocks=half).lower(how, most)]

    def _halved(self) -> list[Blocks]:
        ((title, rows),) = self.blocks
        middle = len(rows) // 2
        return [((title, rows[:middle]),), ((title, rows[middle:]),)]


def grid(sheet: Sheet) -> Grid:
    """Write the cells of a sheet."""
    starred = [any(line.cells[n].star for line in sheet.lines) for n in range(len(sheet.columns))]
    blocks = tuple(
        (
            escaped(cut(group.title)),
            tuple(
                Row(escaped(cut(line.name)), tuple(map(_cell, line.cells, starred)))
                for line in group.lines
            ),
        )
        for group in sheet.groups
    )
    numbers = zip(*(row.cells for _, rows in blocks for row in rows), strict=True)
    pairs = zip(sheet.columns, numbers, strict=True)
    return Grid(
        tuple(escaped(cut(column.group)) for column in sheet.columns),
        tuple(_heading(column.title, cells) for column, cells in pairs),
        blocks,
    )


def tabular(shown: Grid, part: slice, how: Fit) -> str:
    """Write some of the columns, with the names of groups and rows.

    Where there are several parts, each is as wide as the text, so that they are equally wide.
    """
    headings = [_stacked(lines) for lines in shown.headings[part]]
    span, numbers = 1 + len(headings), "r" * len(headings)
    whole = len(how.parts) == 1
    name = "tabular" if whole else "tabular*"
    columns = (
        f"{{l{numbers}}}" if whole else rf"{{\linewidth}}{{l@{{\extracolsep{{\fill}}}}{numbers}}}"
    )
    lines = [rf"\begin{{{name}}}{columns}", r"\toprule", *_over(shown.over[part])]
    lines.append(" & ".join(["method", *headings]) + r" \\")
    for title, rows in shown.blocks:
        lines.append(r"\midrule")
        if title:
            lines.append(rf"\multicolumn{{{span}}}{{l}}{{\textit{{{title}}}}} \\")
        lines += [" & ".join([_name(row.name, how), *row.cells[part]]) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", rf"\end{{{name}}}"])


def _over(titles: Sequence[str]) -> Iterator[str]:
    """Write the titles above the headings, each with a rule below it over its columns."""
    if not any(titles):
        return
    cells, rules, first = [""], "", 2
    for title, columns in groupby(titles):
        last = first + len(list(columns)) - 1
        cells.append(rf"\multicolumn{{{last - first + 1}}}{{c}}{{{title}}}")
        rules += rf"\cmidrule(lr){{{first}-{last}}}" if title else ""
        first = last + 1
    yield " & ".join(cells) + r" \\"
    yield rules


def _cell(one: Printed, starred: bool) -> str:
    spread = rf"$\pm${one.spread}" if one.spread else ""
    dagger = r"$\dagger$" if one.dagger else ""
    star = "*" if one.star else r"\phantom{*}" if starred else ""
    text = "--" if one.text == "-" else escaped(one.text)
    return WRAPS[one.mark] % text + spread + dagger + star


def _heading(title: str, cells: Sequence[str]) -> tuple[str, ...]:
    """Break a title that is wider than the cells: at spaces, hyphens and inner capitals."""
    if width(escaped(title), ABOUT) <= max(width(cell, ABOUT) for cell in cells):
        return (escaped(title),)
    hyphenated = re.sub(r"(?<=[a-z]{3})(?=[A-Z][a-z]{3})", "-", cut(title))
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
