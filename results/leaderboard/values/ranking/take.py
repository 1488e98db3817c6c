"""What a visitor takes along of a view: its tables as `harness table` prints them, and the papers.

A table sets its own order: how a view is sorted is not carried over.
"""

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from results.analysis.runs.selection import split_names
from results.analysis.series import unique
from results.analysis.table import Table
from results.errors import ResultsError, unknown
from results.leaderboard.source import Opened
from results.leaderboard.values.tables import Found, passes
from results.leaderboard.values.titles import typed
from results.leaderboard.view import View
from results.reports import formats
from results.reports.bibtex import bibtex
from results.reports.sheets.chosen import chosen
from results.reports.sheets.printing import Printing

STORE = "harness.db"
"""Where commands look without `--store`."""

LONGEST = 10_000
"""Characters of a word in a command; no system takes many more than 30,000."""


@dataclass(frozen=True)
class Form:
    """How something is written into a file."""

    title: str
    suffix: str
    media: str


BIBTEX = "bibtex"
FORMS: Mapping[str, Form] = {
    "latex": Form("LaTeX", "tex", "application/x-tex"),
    "csv": Form("CSV", "csv", "text/csv"),
    "json": Form("JSON", "json", "application/json"),
    BIBTEX: Form("BibTeX", "bib", "application/x-bibtex"),
}


@dataclass(frozen=True)
class Take:
    """What can be taken along in one form."""

    form: str
    """One of `FORMS`."""
    command: str
    """Prints the same in a shell; empty where no command does."""


@dataclass(frozen=True)
class Part:
    """The part of all tables that a view shows."""

    found: Found
    view: View
    tables: tuple[Table, ...]
    """Those that are shown, with all their rows and columns; none if nothing can be taken."""
    printing: Printing
    """What is printed of them."""
    pool_eras: bool
    """Whether they pool runs of different environments."""

    def command(self, form: str) -> list[str]:
        """Give the words of the command that prints it, as `harness table` would write them."""
        options = {
            "--tasks": self.view.group,
            "--backbones": ",".join(self.view.backbones),
            "--methods": ",".join(self.printing.methods),
            "--protocol": self.view.protocol,
            "--environment": self.view.era,
            "--format": form,
            "--clean": self.found.clean,
            "--own-recipes": self.view.recipes == "own",
            "--pool-eras": self.pool_eras,
            "--columns": ",".join(self.printing.columns),
            "--choose": "validation" * (self.view.recipes == "validation"),
            "--published": self.view.published,
        }
        words = ["harness", "table"]
        for name, value in options.items():
            words += [name] if value is True else [name, str(value)] if value else []
        return words

    @property
    def is_named(self) -> bool:
        """Whether a command line can name it: no comma or control character, nothing too long."""
        names = [*self.view.backbones], [*self.printing.methods]
        told = all(split_names(",".join(own)) == own for own in names)
        columns = [one.strip() for name in self.printing.columns for one in name.split(",")]
        words = self.command("latex")
        printable = all(word.isprintable() and len(word) <= LONGEST for word in words)
        return told and columns == [*self.printing.columns] and printable


def part(opened: Opened, found: Found, view: View, methods: Iterable[str]) -> Part:
    """Say what of some tables a view shows, whose rows are those of `methods`."""
    tables = tuple(one for one in found.whole if not one.refusal and passes(one, view))
    columns = unique(table.columns for table in tables)
    printing = Printing(columns=tuple(name for name in columns if name in view.columns))
    rows = unique(
        [row.label for row in block.rows]
        for table in chosen(tables, printing)
        for block in table.blocks
    )
    shown = tuple(label for label in rows if label in set(methods))
    some = replace(printing, methods=shown if shown != rows else ())
    return Part(found, view, tables if shown else (), some, opened.source.pool_eras)


def takes(opened: Opened, of: Part) -> tuple[Take, ...]:
    """List the forms of a part, with commands; none where there is nothing to take."""
    if not of.tables:
        return ()
    store = opened.source.public.store(opened.source.place)
    place = ["--store", store] if store not in ("", STORE) else []
    return tuple(
        Take(
            form, shlex.join([*of.command(form), *place]) if form != BIBTEX and of.is_named else ""
        )
        for form in FORMS
    )


def text(opened: Opened, of: Part, form: str) -> str:
    """Write a part in one of `FORMS`.

    Raises:
        ResultsError: There is no such form, or nothing to take.
    """
    if form not in FORMS:
        raise ResultsError(unknown("form to take a view along", form, FORMS))
    if not of.tables:
        raise ResultsError("No table of this view can be taken along: it shows no row.")
    runs = list(of.found.runs.values())
    if form == BIBTEX:
        shown = chosen(of.tables, of.printing)
        return f"{bibtex(opened.source.references(shown, runs))}\n"
    printing = replace(
        of.printing,
        titles=typed(opened, of.found) if form in formats.FOR_PAPERS else None,
        published=opened.source.paper(of.view.published),
        command=shlex.join(of.command(form)) if of.is_named else "",
    )
    return f"{formats.render(of.tables, form, printing)}\n"
