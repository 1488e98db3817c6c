"""The tables of the papers whose methods this project has, as facts with their source.

A page in `published/` holds the tables of a paper, as they are printed, and says where they are
from and of how many seeds. A page without a table says why it has none.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from results.audit.reading import Declared, read
from results.audit.table import PrintedTable
from results.errors import ResultsError, unknown

FOLDER = Path(__file__).parent / "published"
SEEDS = re.compile(r"^- seeds: (\d+)", re.MULTILINE)
PROTOCOL = re.compile(r"^- protocol: ([\w-]+)", re.MULTILINE)


@dataclass(frozen=True)
class Paper:
    """A paper, and the tables of scores that it prints."""

    name: str
    title: str
    tables: tuple[PrintedTable, ...]
    protocol: str
    """The protocol of this project that follows the paper's; or empty."""
    remark: str
    """Where the tables are from, or why there is none."""


def names() -> list[str]:
    """List the papers.

    >>> names()
    ['cascade', 'dypam', 'hycam', 'rosa', 'smoa']
    """
    return sorted(page.stem for page in FOLDER.glob("*.md"))


def paper(name: str, known: Mapping[str, int]) -> Paper:
    """Read the page of a paper.

    Args:
        name: One of `names`, in upper or lower case.
        known: Items of the usual test sets, by the letters of the names of benchmarks.

    Raises:
        ResultsError: There is no such page.
    """
    if name.lower() not in names():
        raise ResultsError(unknown("paper with published tables", name, names()))
    text = page(name.lower())
    title, _, rest = text.removeprefix("# ").partition("\n")
    stated = SEEDS.search(text)
    seeds = int(stated[1]) if stated else None
    declared = Declared(known, seeds=seeds, paper=name.lower(), name=title)
    protocol = PROTOCOL.search(text)
    return Paper(
        name=name.lower(),
        title=title,
        tables=tuple(read(text, declared)),
        protocol=protocol[1] if protocol else "",
        remark=" ".join(rest.strip().partition("\n\n")[0].split()),
    )


@cache
def page(name: str) -> str:
    """Read the text of a paper's page."""
    return (FOLDER / f"{name}.md").read_text(encoding="utf-8")
