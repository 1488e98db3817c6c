"""Tables for a terminal, an issue or a README."""

from collections.abc import Sequence

from results.analysis.published import beside
from results.analysis.runs.flags import summed_up
from results.reports import prose, published
from results.reports.markdown_table import GAP, markdown_table
from results.reports.plain_markdown import marked, plain
from results.reports.sheets.behind import Behind
from results.reports.sheets.notes import lines
from results.reports.sheets.printing import Printing
from results.reports.sheets.sheet import Mark, Printed, Sheet, behind_sheets
from results.reports.sheets.split import split
from results.texts import one_line

WRAPS: dict[Mark, str] = {"best": "**{}**", "second": "_{}_", "": "{}"}


def render(sheets: Sequence[Sheet], printing: Printing) -> str:
    """Write sheets one below the other, and below them the flags of all their runs."""
    flags = prose.flags(list(map(plain, summed_up(behind_sheets(sheets)))))
    each = [*(_sheet(sheet, printing) for sheet in sheets), flags, _gaps(sheets, printing)]
    return "\n\n".join(filter(None, each))


def _gaps(sheets: Sequence[Sheet], printing: Printing) -> str:
    """Write the gaps to what a paper prints, if one is asked for."""
    paper = printing.published
    return published.markdown(paper, beside(behind_sheets(sheets), paper)) if paper else ""


def _sheet(sheet: Sheet, printing: Printing) -> str:
    parts = _parts(sheet, printing.characters)
    below = "\n".join(map(marked, map(one_line, lines(sheet.told("italic")))))
    runs = markdown_table(Behind._fields, sheet.runs, "llll") if printing.runs else ""
    return "\n\n".join(filter(None, [plain(sheet.title), *parts, below, runs]))


def _parts(sheet: Sheet, characters: int | None) -> list[str]:
    """Lay the columns out, in several tables where they do not fit the width."""
    names = [["backbone", "method"]]
    names += [[group.title, line.name] for group in sheet.groups for line in group.lines]
    if not any(group.title for group in sheet.groups):
        names = [name[1:] for name in names]
    numbers = [[f"{column.group} {column.title}".strip() for column in sheet.columns]]
    numbers += [list(map(_cell, line.cells)) for line in sheet.lines]
    widths = [max(map(len, column)) + GAP for column in zip(*numbers, strict=True)]
    named = sum(max(map(len, column)) + GAP for column in zip(*names, strict=True))
    room = sum(widths) if characters is None else characters - named - 1
    align = "l" * len(names[0])
    return [
        markdown_table(lines[0], lines[1:], align=align + "r" * (len(lines[0]) - len(align)))
        for part in split(widths, room, [column.group for column in sheet.columns])
        for lines in [[[*name, *line[part]] for name, line in zip(names, numbers, strict=True)]]
    ]


def _cell(one: Printed) -> str:
    spread = f" ± {one.spread}" if one.spread else ""
    # Between blanks, Markdown takes the asterisk for itself and not for emphasis.
    return (
        WRAPS[one.mark].format(f"{one.text}{spread}") + prose.DAGGER * one.dagger + " *" * one.star
    )
