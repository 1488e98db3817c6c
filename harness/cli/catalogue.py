"""Commands that say what there is: methods, benchmarks, data files; and whether it is sound."""

from typing import Annotated

import typer

from harness.cli import options

data_app = typer.Typer(help="The data files: what is there, and whether it is right.")


def methods(
    name: Annotated[str | None, typer.Argument(help="One method, in full.")] = None,
    backbone: options.Backbone = None,
    wide: options.Wide = False,
    as_json: options.AsJson = False,
) -> None:
    """List the methods, with trainable parameters on a backbone; no weights are loaded."""
    from harness.commands import catalogue

    options.show(catalogue.methods(name, backbone, wide=wide), as_json)


def tasks(
    name: Annotated[str | None, typer.Argument(help="One benchmark, in full.")] = None,
    wide: options.Wide = False,
    as_json: options.AsJson = False,
) -> None:
    """List the groups and their benchmarks."""
    from harness.commands import catalogue

    options.show(catalogue.tasks(name, wide=wide), as_json)


def doctor(method: str) -> None:
    """Check that a method keeps the contract, on the embedded model; `all` checks every method.

    METHOD is a name, an entry point of another distribution, or the path of a method's file.
    """
    from harness.commands.doctor import examine

    sound = True
    for finding in examine(method):
        typer.echo(str(finding))
        sound = sound and not finding.fault
    raise typer.Exit(0 if sound else 1)


@data_app.command()
def status(data: options.DataFolder = None, as_json: options.AsJson = False) -> None:
    """Say which data files are there, and which groups can run."""
    from harness.commands import data as command

    options.show(command.status(data), as_json)


@data_app.command()
def fetch(group: str, data: options.DataFolder = None, as_json: options.AsJson = False) -> None:
    """Download the files of a group that are missing; a transfer that was cut goes on."""
    from harness.commands import data as command

    options.show(command.fetch(group, data), as_json)


@data_app.command()
def verify(data: options.DataFolder = None, as_json: options.AsJson = False) -> None:
    """Read every data file that is there: each row, the number of rows, the SHA-256."""
    from harness.commands import data as command

    options.show(command.verify(data), as_json)


@data_app.command()
def contamination(
    group: str,
    data: options.DataFolder = None,
    train_data: options.TrainData = None,
    as_json: options.AsJson = False,
) -> None:
    """Count the test rows of a group that its training set holds, and what benchmarks share."""
    from harness.commands import data as command

    options.show(command.contaminated(group, data, train_data), as_json)
