"""Tables for a paper, in type of at least 7 pt; they need the package booktabs and no other."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from results.analysis.runs.flags import summed_up
from results.analysis.table import Table
from results.reports import prose
from results.reports.behind import behind
from results.reports.formats.latex.fit import HEIGHT, LEADING, ROOM, Fit, fit
from results.reports.formats.latex.notes import SIZE, notes
from results.reports.formats.latex.tabular import Grid, grid, tabular
from results.reports.formats.latex.text import escaped
from results.reports.layout import Layout, method_title, titled, without_idle_averages

ENVIRONMENTS = {"column": "table", "page": "table*"}


def render(tables: Sequence[Table], layout: Layout) -> str:
    """Write each table as a float of its own, or as several where it does not fit a page."""
    each = zip(tables, _labels(tables, layout), _flags(tables, layout), strict=True)
    floats = (text for one in each for text in _floats(*one, layout))
    return "\n\n".join([r"% In the preamble: \usepackage{booktabs}", *floats])


def _labels(tables: Sequence[Table], layout: Layout) -> list[str]:
    """Give each table a label of its own."""
    names = [
        layout.label or f"tab:{_slug(table.conditions.group)}-{_slug(table.metric.name)}"
        for table in tables
    ]
    before = (Counter(names[:place])[name] for place, name in enumerate(names))
    return [f"{name}-{1 + n}" if n else name for name, n in zip(names, before, strict=True)]


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _flags(tables: Sequence[Table], layout: Layout) -> Iterator[tuple[str, ...]]:
    """Sum up the flags of each table; where one before it is of the same runs, there they stand."""
    named = partial(method_title, titles=layout.titles)
    seen: list[object] = []
    for table in tables:
        runs = [row.flags.keys() for block in table.blocks for row in block.rows]
        yield () if (table.conditions, runs) in seen else summed_up([table], named)
        seen.append((table.conditions, runs))


def _floats(table: Table, label: str, flags: Sequence[str], layout: Layout) -> Iterator[str]:
    shown = titled(without_idle_averages(table, layout), layout.titles)
    cells, room = grid(shown, layout), ROOM[layout.width]
    how = fit(["method", *(row.name for row in cells.rows)], cells.columns, room)
    below, left = notes(shown, flags, room)
    pages, caption = _pages(cells, how), prose.title(shown, layout.spread)
    comments = [*left, *(_runs(shown) if layout.runs else ())]
    if comments:
        yield "\n".join(f"% {sentence}" for sentence in comments)
    for number, page in enumerate(pages, 1):
        part = f" (part {number} of {len(pages)})." if len(pages) > 1 else "."
        own = label if number == 1 else f"{label}-part-{number}"
        yield _float(layout, how, caption.removesuffix(".") + part, own, page, below)
        below = rf"Notes: below Table~\ref{{{label}}}."


def _runs(table: Table) -> Iterator[str]:
    """Name the runs behind the cells, in comments: sixteen digits a seed are too wide to print."""
    for one in behind(table):
        yield f"Runs behind {one.method} on {one.backbone}, columns {one.columns}: {one.runs}"


def _float(
    layout: Layout, how: Fit, caption: str, label: str, tabulars: Sequence[str], below: str
) -> str:
    environment = ENVIRONMENTS[layout.width]
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
    a_page = max(1, int(HEIGHT // cells.height(how)))
    tabulars = [tabular(cells, part, how) for part in how.parts]
    return [tabulars[first : first + a_page] for first in range(0, len(tabulars), a_page)]
