"""Commands that look at runs while they go on."""

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options
from harness.printed import say


def status(
    watch: Annotated[
        bool, typer.Option("--watch", help="Keep it on the screen until Ctrl-C.")
    ] = False,
    store: options.StorePlace = "harness.db",
    root: options.RunsRoot = Path("runs"),
    as_json: options.AsJson = False,
) -> None:
    """Show what runs now, on this machine and others, how many are left, and what failed."""
    from harness.commands.status import status as command
    from harness.commands.status import watch as keep
    from harness.errors import UserError

    if watch and as_json:
        raise UserError("--watch is for readers. For --json, ask again and again.")
    if watch:
        with suppress(KeyboardInterrupt):
            keep(store, root)
    else:
        options.show(command(store, root), as_json)


def logs(
    run: options.RunName,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on until the run has ended, or Ctrl-C.")
    ] = False,
    lines: Annotated[int, typer.Option("-n", min=1, help="So many of the last lines.")] = 40,
    store: options.StorePlace = "harness.db",
    root: options.RunsRoot = Path("runs"),
) -> None:
    """Show the end of what a run printed: warnings and errors. Losses are in `harness status`."""
    from harness.commands.one_run import logs as command

    give = command.follow if follow else command.logs
    with suppress(KeyboardInterrupt):
        for line in give(store, run, root, lines):
            say(line)
