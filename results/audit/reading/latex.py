"""Tables of a LaTeX source, as papers write them."""

import re
from collections.abc import Iterator

from results.audit.reading.grid import NOTHING, Entry, Grid
from results.audit.reading.macros import (
    argument,
    definitions,
    entry,
    expanded,
    printed,
    split,
    without_comments,
)

TABULAR = re.compile(r"\\(begin|end)\{(tabular[*xy]?|tabulary|longtable|array)\}")
AROUND = re.compile(
    r"\\(begin|end)\{((?:sideways|wrap)?table\*?|figure\*?|minipage|longtable|subtable)\}"
)
RULE = re.compile(
    r"\\(?:toprule|midrule|bottomrule|hline|Xhline\{[^}]*\}|endhead|endfirsthead|endfoot|endlastfoot"
    r"|(?:cmidrule|cline)(?:\[[^\]]*\])?(?:\([^)]*\))?\{[^}]*\}|specialrule(?:\{[^}]*\}){3}"
    r"|addlinespace|rowcolor(?:\[[^\]]*\])?\{[^}]*\}|noalign\{[^}]*\}|arrayrulecolor\{[^}]*\})"
    r"(?:\[[^\]]*\])?(?![A-Za-z])"
)
SKIP = re.compile(r"^\s*\*?\[[^\]]*\]")
"""What may stand behind the end of a line: `\\\\[2pt]`."""
MULTICOLUMN = re.compile(r"\s*\\multicolumn\s*\{(\d+)\}\s*(?=\{)")
MULTIROW = re.compile(
    r"\s*\\multirow\s*(?:\[[^\]]*\])?\s*\{(-?\d+)\}\s*(?:\[[^\]]*\])?\s*(?=\{|\*)"
)


def grids(source: str) -> Iterator[Grid]:
    r"""Give the tables of a source in their order; bare lines with `&` and `\\` are one too."""
    text = _flat(without_comments(source))
    macros = definitions(text)
    starts = [found for found in TABULAR.finditer(text) if found[1] == "begin"]
    if not starts:
        yield Grid("", "", lines(expanded(text, macros)))
    for found in starts:
        around = text[slice(*_surroundings(text, found.start()))]
        yield Grid(
            label=_given("label", around),
            caption=printed(expanded(_given("caption", around), macros)),
            lines=lines(expanded(_body(text, found), macros)),
        )


def _flat(text: str) -> str:
    """Write a table in a cell, which holds the lines of a head, as a group in braces."""
    depth, place, parts = 0, 0, []
    for found in TABULAR.finditer(text):
        opens = found[1] == "begin"
        depth += 1 if opens else -1
        if depth > opens:
            parts += [text[place : found.start()], "{" if opens else "}"]
            place = _content(text, found) if opens else found.end()
    return "".join([*parts, text[place:]])


def _surroundings(text: str, place: int) -> tuple[int, int]:
    """Find the innermost environment around a place that can have a caption."""
    opened: list[int] = []
    for found in AROUND.finditer(text, 0, place):
        if found[1] == "begin":
            opened.append(found.start())
        elif opened:
            opened.pop()
    if not opened:
        return place, place
    depth = 1
    for found in AROUND.finditer(text, place):
        depth += 1 if found[1] == "begin" else -1
        if depth == 0:
            return opened[-1], found.start()
    return opened[-1], len(text)


def _given(macro: str, text: str) -> str:
    r"""Read the argument of `\caption`, `\captionof` or `\label`; empty if there is none."""
    found = re.search(rf"\\{macro}(?:of\{{\w+\}})?\*?(?:\[[^\]]*\])?\s*(?=\{{)", text)
    return argument(text, found.end())[0].strip() if found else ""


def _body(text: str, found: re.Match[str]) -> str:
    r"""Cut out what is between `\begin{tabular}{...}` and its end."""
    start = _content(text, found)
    end = text.find(rf"\end{{{found[2]}}}", start)
    return text[start : end if end >= 0 else len(text)]


def _content(text: str, found: re.Match[str]) -> int:
    """Find the place behind the arguments of a tabular."""
    place = found.end()
    for _ in range(2 if found[2] in ("tabular*", "tabularx", "tabulary") else 1):
        place = argument(text, _behind_options(text, place))[1]
    return place


def _behind_options(text: str, start: int) -> int:
    found = re.compile(r"\s*(?:\[[^\]]*\])?\s*").match(text, start)
    return found.end() if found else start


def lines(body: str) -> tuple[tuple[Entry, ...], ...]:
    """Read the lines of a body; an entry over several places stands at each of them."""
    found: list[list[Entry]] = []
    below: dict[int, tuple[int, Entry]] = {}
    for part in split(RULE.sub(" ", body), r"\\"):
        source = SKIP.sub("", part)
        if source.strip():
            found.append([])
            for content in split(source, "&"):
                _add(content, found, below)
    return tuple(map(tuple, found))


def _add(source: str, lines: list[list[Entry]], below: dict[int, tuple[int, Entry]]) -> None:
    """Add an entry to the last line; `below` holds what reaches down, and how far."""
    columns, content = _inside(MULTICOLUMN, source)
    rows, content = _inside(MULTIROW, content)
    for _ in range(columns):
        place = len(lines[-1])
        lines[-1].append(_reached(entry(content), rows, place, below))
        for line in lines[rows - 1 : -1] if rows < 0 else ():  # some span upwards
            if place < len(line) and not line[place].words:
                line[place] = lines[-1][place]


def _inside(macro: re.Pattern[str], source: str) -> tuple[int, str]:
    """Give how many places an entry takes, and its third argument: or one, and all of it."""
    found = macro.match(source)
    if not found:
        return 1, source
    behind = _behind_options(source, argument(source, found.end())[1])
    return int(found[1]), argument(source, behind)[0]


def _reached(one: Entry, rows: int, place: int, below: dict[int, tuple[int, Entry]]) -> Entry:
    """Give what stands at a place: the entry, or, if it is empty, one that reaches down to it."""
    left, above = below.pop(place, (0, NOTHING))
    if rows > 1:
        below[place] = (rows - 1, one)
    elif left > 1:
        below[place] = (left - 1, above)
    return one if one.words or not left else above
