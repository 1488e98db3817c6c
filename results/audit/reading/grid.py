"""What a table looks like before anyone knows what its columns mean: the same for all formats."""

import re
from dataclasses import dataclass
from decimal import Decimal

from results.audit.table import Cell

MINUS, DASHES = "\N{MINUS SIGN}", "\N{EN DASH}\N{EM DASH}"
NUMBER = re.compile(
    rf"(?P<below><?)\s*(?P<value>[-+{MINUS}]?(?:\d[\d,]*(?:\.\d+)?|\.\d+))\s*%?"
    r"\s*(?:±\s*(?P<sd>\d*\.?\d+)\s*%?)?\s*(?P<marks>[*†‡§]*)\s*(?:\([^)]*\))?"
)
"""A number as tables print it; what stands in brackets behind it is left out."""


@dataclass(frozen=True)
class Entry:
    """What stands at one place of a table."""

    text: str
    """As in the source."""
    words: str
    """As a reader sees it, without bold and underline; a star stays."""
    bold: bool = False
    underlined: bool = False

    @property
    def cell(self) -> Cell | None:
        """Read it as a number with its marks; None if it is none."""
        found = NUMBER.fullmatch(self.words)
        if not found:
            return None
        sd = found["sd"]
        return Cell(
            text=self.text,
            value=Decimal(found["value"].replace(",", "").replace(MINUS, "-")),
            sd=Decimal(sd) if sd else None,
            bold=self.bold,
            underlined=self.underlined,
            star="*" in found["marks"],
            below=bool(found["below"]),
        )

    @property
    def empty(self) -> bool:
        """Whether nothing stands there, or a sign that there is nothing."""
        return not self.words.strip(f"-{DASHES}") or self.words.lower() == "n/a"


NOTHING = Entry("", "")


@dataclass(frozen=True)
class Grid:
    """A table as lines of entries; one that spans several places stands at each of them."""

    label: str
    """What the source calls it, such as "tab:main_math"; or empty."""
    caption: str
    lines: tuple[tuple[Entry, ...], ...]
