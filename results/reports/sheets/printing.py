"""What of a table is printed, and how wide; the numbers are those of the analysis."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from results.audit.papers import Paper

Width = Literal["column", "page"]


@dataclass(frozen=True)
class Printing:
    """How tables are printed; a format takes what means something to it."""

    columns: tuple[str, ...] = ()
    """The only ones to show, in this order; all without any."""
    methods: tuple[str, ...] = ()
    """The only ones whose rows are shown, by their labels; all without any."""
    protocol: str = ""
    """The only one whose tables are shown; all without one."""
    environment: str = ""
    """The first digits of the id of the only one whose tables are shown."""
    spread: bool = True
    """Whether means are printed with their SD."""
    characters: int | None = 100
    """How wide a line of text may be; None for any width."""
    width: Width = "page"
    """Whether a table for a paper is as wide as one column of text, or as the page."""
    label: str = ""
    """By which a paper refers to the table; made of group and metric without one."""
    costs: bool = False
    """Whether time, speed, memory and size stand beside the scores."""
    runs: bool = False
    """Whether the ids of the runs behind the cells are listed, in LaTeX in comments of the source;
    JSON and CSV always have them."""
    published: Paper | None = None
    """The paper whose numbers stand beside the user's."""
    command: str = ""
    """Prints the same again; empty where it would not."""
    titles: Mapping[str, str] | None = None
    """What a paper calls methods, benchmarks and groups, a name without one staying as it is; None
    where they stand as they are typed."""
