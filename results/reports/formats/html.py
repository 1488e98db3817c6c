"""A page for a browser that needs nothing besides: no script, no request to another host."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from html import escape
from itertools import groupby

from results.analysis.published import beside
from results.analysis.runs.flags import summed_up
from results.audit.papers import Paper
from results.reports import prose, published
from results.reports.sheets.behind import Behind
from results.reports.sheets.notes import lines
from results.reports.sheets.printing import Printing
from results.reports.sheets.sheet import (
    Column,
    LineGroup,
    Mark,
    Printed,
    Sheet,
    behind_sheets,
    labels,
)
from results.reports.sheets.titles import method_title

WRAPS: dict[Mark, str] = {"best": "<strong>{}</strong>", "second": "<u>{}</u>", "": "{}"}

STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 100rem; }
body { padding: 0 1rem; }
figure { margin: 0 0 3rem; }
figure > div { overflow-x: auto; }
figcaption { font-weight: 600; margin-bottom: .5rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .7rem; text-align: right; white-space: nowrap; }
tr > :first-child { background: Canvas; left: 0; position: sticky; text-align: left; }
tbody.texts td { text-align: left; }
thead th { vertical-align: bottom; }
thead th[colspan] { border-bottom: 1px solid GrayText; text-align: center; }
thead, tbody { border-bottom: 1px solid; }
table { border-top: 2px solid; border-bottom: 2px solid; }
th { font-weight: 400; }
tbody th[colspan] { font-style: italic; }
small { color: GrayText; }
i { display: inline-block; font-style: normal; width: 0; }
u { text-underline-offset: .2em; }
ul, details { color: GrayText; font-size: .85rem; margin: .5rem 0 0; padding-left: 1.2rem; }
@page { size: A4 landscape; margin: 12mm; }
@media print {
  body { font-size: 8pt; margin: 0; max-width: none; padding: 0; }
  tr, figcaption { break-inside: avoid; }
  figure > div { overflow: visible; }
  tr > :first-child { background: none; position: static; }
  th, td { padding: .1rem .25rem; }
  small { font-size: 6pt; }
}
"""

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
"""Even a page that someone changes loads nothing."""


def render(sheets: Sequence[Sheet], printing: Printing) -> str:
    """Write sheets as one page, and below them the flags of all their runs."""
    named = partial(method_title, titles=printing.titles or {})
    flags = summed_up(behind_sheets(sheets), named)
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">',
            '<meta name="viewport" content="width=device-width">',
            f"<title>{escape(sheets[0].title) if sheets else ''}</title>",
            f"<style>{STYLE}</style>",
            *map(partial(_figure, printing), sheets, labels(sheet.name for sheet in sheets)),
            *(["<h2>Flags</h2>", _listed(flags)] if flags else []),
            *([_gaps(sheets, printing, printing.published)] if printing.published else []),
            "</html>",
        ]
    )


def _gaps(sheets: Sequence[Sheet], printing: Printing, paper: Paper) -> str:
    """Write the gaps to what a paper prints."""
    found = beside(behind_sheets(sheets), paper)
    lines = published.table_of(found, printing.titles or {})
    return "\n".join(
        [
            "<h2>As published</h2>",
            *([f"<div>{_texts(published.HEAD, lines)}</div>"] if found else []),
            _listed(published.sentences(paper, found)),
        ]
    )


def _figure(printing: Printing, sheet: Sheet, name: str) -> str:
    parts = [
        f'<figure id="{name}">',
        f"<figcaption>{escape(sheet.title)}</figcaption>",
        f"<div><table>\n<thead>{_head(sheet.columns)}</thead>",
        *(_body(group) for group in sheet.groups),
        "</table></div>",
        _listed(lines(sheet.told("underlined"))),
        *([_runs(sheet.runs)] if printing.runs else []),
        "</figure>",
    ]
    return "\n".join(parts)


def _head(columns: Sequence[Column]) -> str:
    """Write the titles, and above them those of the groups, if there are any."""
    titles = "".join(f'<th scope="col">{escape(column.title)}</th>' for column in columns)
    below = f'<tr><th scope="col">method</th>{titles}</tr>'
    groups = [(title, len(list(own))) for title, own in groupby(one.group for one in columns)]
    above = "".join(
        f'<th scope="colgroup" colspan="{n}">{escape(title)}</th>' if title else "<td></td>" * n
        for title, n in groups
    )
    return (f"<tr><td></td>{above}</tr>\n" if any(title for title, _ in groups) else "") + below


def _body(group: LineGroup) -> str:
    return "\n".join(["<tbody>", *_rows(group), "</tbody>"])


def _rows(group: LineGroup) -> Iterator[str]:
    if group.title:
        span = 1 + len(group.lines[0].cells)
        title = escape(group.title)
        yield f'<tr><th scope="rowgroup" colspan="{span}">{title}</th></tr>'
    for line in group.lines:
        cells = "".join(f"<td>{_cell(cell)}</td>" for cell in line.cells)
        yield f'<tr><th scope="row">{escape(line.name)}</th>{cells}</tr>'


def _cell(one: Printed) -> str:
    spread = f" <small>± {one.spread}</small>" if one.spread else ""
    marks = prose.DAGGER * one.dagger + "*" * one.star
    # The marks take no room, so that the numbers stand below one another.
    return WRAPS[one.mark].format(escape(one.text)) + spread + (f"<i>{marks}</i>" if marks else "")


def _listed(texts: Sequence[str]) -> str:
    return "\n".join(["<ul>", *(f"<li>{escape(text)}</li>" for text in texts), "</ul>"])


def _runs(found: Sequence[Behind]) -> str:
    table = _texts(Behind._fields, found)
    return f"<details><summary>Runs behind the cells</summary>\n{table}</details>"


def _texts(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a table whose cells are flush left."""
    titles = "".join(f"<th>{name}</th>" for name in head)
    cells = ("".join(f"<td>{escape(text)}</td>" for text in row) for row in rows)
    body = "\n".join(f"<tr>{row}</tr>" for row in cells)
    return f'<table><thead><tr>{titles}</tr></thead>\n<tbody class="texts">{body}</tbody></table>'
