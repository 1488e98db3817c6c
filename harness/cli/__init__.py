"""The command line: each command parses, delegates and prints."""

import os
import signal
import sys
from typing import Annotated

import typer

from harness.cli import (
    archive,
    audit,
    catalogue,
    history,
    items,
    leaderboard,
    new,
    publish,
    reports,
    runs,
    watching,
    wishes,
)
from harness.packages import stranger
from harness.printed import say

# Nothing heavy is imported at the top of these files: `harness --help` has to answer at once.

app = typer.Typer(
    name="harness",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
COMMANDS = (
    *(runs.run, catalogue.methods, catalogue.tasks, reports.table, reports.compare),
    *(history.history, history.diff, history.tag, history.note),
    *(runs.show, items.items, items.rerun, publish.card, publish.push),
    *(watching.status, watching.logs),
    *(wishes.retry, wishes.cancel, wishes.forget),
    *(audit.audit, catalogue.doctor, runs.rescore, runs.reindex, archive.merge, archive.export),
)
for command in COMMANDS:
    app.command()(command)
app.command("import")(archive.import_)


def _print_version(wanted: bool) -> None:
    if wanted:
        from harness.worker.machine.version import described

        say(described())
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print version and commit."
        ),
    ] = False,
) -> None:
    """Fine-tune, evaluate and compare parameter-efficient methods on language models."""


app.add_typer(catalogue.data_app, name="data", no_args_is_help=True)
app.add_typer(reports.seeds_app, name="seeds", no_args_is_help=True)
app.add_typer(new.app, name="new", no_args_is_help=True)
app.add_typer(leaderboard.app, name="leaderboard", no_args_is_help=True)


def main() -> None:
    """Run the command line; a user's mistake is one message and exit code 2."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    # Ask whether there is a GPU without initialising CUDA in this process.
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
    if found := stranger():
        print(f"error: {found}", file=sys.stderr)  # `say` would ask for one of these packages
        sys.exit(2)
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        from harness.errors import message

        text = message(error)
        if text is None:
            raise
        say(f"error: {text}", err=True)
        sys.exit(2)
