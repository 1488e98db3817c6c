"""Commands that bring runs from one store to another."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options


def merge(
    other: Annotated[str, typer.Argument(help="Another store: a file or a SQLAlchemy URL.")],
    store: options.StorePlace = "harness.db",
    as_json: options.AsJson = False,
) -> None:
    """Add the runs of another store. Ends with 1 if a run has another result there.

    The run folders stay where they are; `harness export` takes them along.
    """
    from harness.commands.merge import merge as command

    options.show(command(store, other), as_json)


def export(
    runs: Annotated[list[str], typer.Argument(help="First digits of ids, or run folders.")],
    out: Annotated[Path, typer.Option(help="The archive to write.")],
    store: options.StorePlace = "harness.db",
    as_json: options.AsJson = False,
) -> None:
    """Write runs with all their files, answers too, into one archive."""
    from harness.commands.archive import export as command

    options.show(command(store, runs, out), as_json)


def import_(
    file: Annotated[Path, typer.Argument(help="An archive that `harness export` wrote.")],
    store: options.StorePlace = "harness.db",
    root: options.RunsRoot = Path("runs"),
    as_json: options.AsJson = False,
) -> None:
    """Place the runs of an archive and store them. Ends with 1 if a run has another result here.

    Every file is checked before anything is placed. An archive may hold files of methods and
    benchmarks, which `harness rerun` runs: take archives from people whom you trust.
    """
    from harness.commands.archive import import_ as command

    options.show(command(store, root, file), as_json)
