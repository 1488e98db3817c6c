"""Tables of a Markdown page, and what stands above them."""

import re
from collections.abc import Iterator, Sequence

from results.audit.reading.grid import Entry, Grid

RULE = re.compile(r"(?=.*\|)\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
BOLD = re.compile(r"\*\*(?=\S)(.*?\S)\*\*|<b>(.*?)</b>|<strong>(.*?)</strong>")
SECOND = re.compile(r"(?<![\w*])_(?=\S)(.*?\S)_(?!\w)|<u>(.*?)</u>")
SIGNS = {r"\*": "*", r"\_": "_", r"\|": "|", "&nbsp;": " ", "<br>": " ", "$": "", r"\pm": "±"}
NUMBERED = re.compile(r"\*(?=[-\d.]+\*)([-\d.]+)\*")
"""A number in italics, which some tables print the second best in."""


def grids(source: str) -> Iterator[Grid]:
    """Give the tables of a page; the heading above names one, and what is between describes it."""
    heading, paragraph, table, new = "", "", list[str](), True
    for line in [*source.splitlines(), ""]:
        if "|" in line:
            table.append(line)
            continue
        if any(map(RULE.fullmatch, table)):
            yield Grid(heading, paragraph, lines(table))
            new = True
        table = []
        if line.startswith("#"):
            heading, paragraph = line.strip("# "), ""
        elif line.strip():
            paragraph = line.strip() if new else f"{paragraph} {line.strip()}"
            new = False


def lines(table: Sequence[str]) -> tuple[tuple[Entry, ...], ...]:
    """Read the lines of one table."""
    rows = [line for line in table if not RULE.fullmatch(line)]
    return tuple(
        tuple(map(entry, re.split(r"(?<!\\)\|", line.strip().removeprefix("|").removesuffix("|"))))
        for line in rows
    )


def entry(source: str) -> Entry:
    """Read what stands between two bars.

    >>> entry(" **63.58** * ")
    Entry(text='**63.58** *', words='63.58 *', bold=True, underlined=False)
    """
    text = source.strip()
    bare = BOLD.sub(_inner, text)
    plain = NUMBERED.sub(r"\1", SECOND.sub(_inner, bare))
    for written, sign in SIGNS.items():
        plain = plain.replace(written, sign)
    return Entry(text, " ".join(plain.split()), bare != text, _underlined(bare))


def _underlined(text: str) -> bool:
    return bool(SECOND.search(text) or NUMBERED.search(text))


def _inner(found: re.Match[str]) -> str:
    return next(one for one in found.groups() if one is not None)
