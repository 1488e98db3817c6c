"""Tables for a paper, in type of at least 7 pt; they need the package booktabs and no other."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain

from results.analysis.published import beside
from results.analysis.runs.flags import summed_up
from results.audit.papers import Paper
from results.reports import published
from results.reports.formats.latex.fit import HEIGHT, LEADING, ROOM, Fit, fit
from results.reports.formats.latex.notes import SIZE, notes
from results.reports.formats.latex.tabular import Grid, grid, tabular
from results.reports.formats.latex.text import comment, escaped
from results.reports.sheets.printing import Printing
from results.reports.sheets.sheet import Sheet, behind_sheets, labels
from results.reports.sheets.titles import method_title

ENVIRONMENTS = {"column": "table", "page": "table*"}


def render(sheets: Sequence[Sheet], printing: Printing) -> str:
    """Write each sheet as a float of its own, or as several where it does not fit a page."""
    names = labels(printing.label or f"tab:{sheet.name}" for sheet in sheets)
    each = zip(sheets, names, _flags(sheets, printing), strict=True)
    floats = (text for one in each for text in _floats(*one, printing))
    gaps = _gaps(sheets, printing.published) if printing.published else []
    return "\n\n".join([r"% In the preamble: \usepackage{booktabs}", *floats, *gaps])


def _gaps(sheets: Sequence[Sheet], paper: Paper) -> list[str]:
    """Write the gaps to what a paper prints, as a comment of the source."""
    text = published.markdown(paper, beside(behind_sheets(sheets), paper))
    return ["\n".join(comment(text))]


def _flags(sheets: Sequence[Sheet], printing: Printing) -> Iterator[tuple[str, ...]]:
    """Sum up the flags of each sheet; where one before it is of the same runs, there they stand."""
    named = partial(method_title, titles=printing.titles or {})
    seen: list[object] = []
    for sheet in sheets:
        shown = [
            (table.conditions, [row.flags.keys() for block in table.blocks for row in block.rows])
            for table in sheet.tables
        ]
        yield () if all(one in seen for one in shown) else summed_up(sheet.tables, named)
        seen += shown


def _floats(sheet: Sheet, label: str, flags: Sequence[str], printing: Printing) -> Iterator[str]:
    cells, room = grid(sheet), ROOM[printing.width]
    how = fit(["method", *(row.name for row in cells.rows)], cells.columns, cells.over, room)
    below, left = notes(sheet, flags, room)
    pages = _pages(cells, how)
    comments = [*left, *(_runs(sheet) if printing.runs else ())]
    if comments:
        yield "\n".join(chain(*map(comment, comments)))
    for number, page in enumerate(pages, 1):
        part = f" (part {number} of {len(pages)})." if len(pages) > 1 else "."
        own = label if number == 1 else f"{label}-part-{number}"
        yield _float(printing, how, sheet.title.removesuffix(".") + part, own, page, below)
        below = rf"Notes: below Table~\ref{{{label}}}."


def _runs(sheet: Sheet) -> Iterator[str]:
    """Name the runs behind the cells, in comments: sixteen digits a seed are too wide to print."""
    for one in sheet.runs:
        yield f"Runs behind {one.method} on {one.backbone}, columns {one.columns}: {one.runs}"


def _float(
    printing: Printing, how: Fit, caption: str, label: str, tabulars: Sequence[str], below: str
) -> str:
    environment = ENVIRONMENTS[printing.width]
    return "\n".join(
        [
            rf"\begin{{{environment}}}[t]",
            r"\centering",
            rf"\caption{{{escaped(caption)}}}",
            rf"\label{{{label}}}",
            r"\par\smallskip",
            _type(how.size),
            rf"\setlength{{\tabcolsep}}{{{how.gap}pt}}",
            "\n\\par\\medskip\n".join(tabulars),
            r"\par\smallskip",
            rf"\parbox{{\linewidth}}{{{_type(SIZE)}\raggedright {below}}}",
            rf"\end{{{environment}}}",
        ]
    )


def _type(size: int) -> str:
    return rf"\fontsize{{{size}}}{{{LEADING * size:g}}}\selectfont"


def _pages(cells: Grid, how: Fit) -> list[list[str]]:
    """Write the parts of a table, as many below one another as fit a page."""
    low = cells.lower(how, HEIGHT)
    a_page = max(1, int(HEIGHT // max(one.height(how) for one in low)))
    tabulars = [tabular(one, part, how) for one in low for part in how.parts]
    return [tabulars[first : first + a_page] for first in range(0, len(tabulars), a_page)]
