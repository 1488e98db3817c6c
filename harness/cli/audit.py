"""The command that reads printed tables."""

from typing import Annotated

import typer

from harness.cli import options


def audit(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]", help="A file with tables, - for a pipe; with --published a paper."
        ),
    ] = None,
    published: Annotated[
        bool,
        typer.Option("--published", help="Of the shipped tables of a paper, or of all of them."),
    ] = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Runs behind each number, where the file is silent.")
    ] = None,
    items: Annotated[
        str, typer.Option(help="Rows of test sets, if not the usual ones: gsm8k=500,zoo=200.")
    ] = "",
    count: Annotated[
        bool,
        typer.Option("--count", help="Count parameters on backbones that are not in the table."),
    ] = False,
    as_json: options.AsJson = False,
) -> None:
    """Ask whether the numbers of printed tables can be right: LaTeX, CSV, Markdown or copied text.

    Ends with 1 if something is impossible or inconsistent.
    """
    from harness.commands import audit as command

    said = command.Said(seeds, command.sizes(items), count)
    make = command.published if published else command.file
    options.show(make(name, said), as_json)
