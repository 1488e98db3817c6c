"""Commands that list methods, benchmarks and data files, and check that they are sound."""

from typing import Annotated

import typer

from harness.cli import options
from harness.printed import say

TaskNames = Annotated[str, typer.Argument(help="Groups and benchmarks.")]

data_app = typer.Typer(help="Which data files are there, and whether they are right.")


def methods(
    name: Annotated[str | None, typer.Argument(help="One method, in full.")] = None,
    backbone: Annotated[
        str | None,
        typer.Option(
            help="`tiny`, a config.json or its folder, a hub repository owner/name\\[@revision], "
            "or a shape of the papers such as llama-3.2-3b (a wrong name lists them)."
        ),
    ] = None,
    memory: Annotated[
        bool, typer.Option("--memory", help="The memory and time that each takes on the backbone.")
    ] = False,
    wide: options.Wide = False,
    as_json: options.AsJson = False,
) -> None:
    """List the methods; with trainable parameters or memory on a backbone, without weights."""
    from harness.commands import catalogue

    if memory:
        from harness.commands.memory import memory as command

        options.show(command(name, backbone), as_json)
        return
    options.show(catalogue.methods(name, backbone, wide=wide, full=as_json), as_json)


def tasks(
    tasks: Annotated[
        str | None, typer.Argument(help="Groups and benchmarks; the latter in full.")
    ] = None,
    wide: options.Wide = False,
    as_json: options.AsJson = False,
) -> None:
    """List the groups and their benchmarks."""
    from harness.commands import catalogue

    options.show(catalogue.tasks(tasks, wide=wide), as_json)


def doctor(method: str, as_json: options.AsJson = False) -> None:
    """Check that a method keeps the contract, on the embedded model; `all` checks every method.

    METHOD is a name, an entry point of another distribution, or the path of a method's file.
    """
    from harness.commands.doctor import Finding, examine, written
    from results.reports.to_json import to_json

    findings: list[Finding] = []
    for finding in examine(method):
        if not as_json:
            say(written(finding, findings))
        findings.append(finding)
    if as_json:
        say(to_json(findings))
    raise typer.Exit(1 if any(finding.fault for finding in findings) else 0)


@data_app.command()
def status(
    data: options.DataFolder = None, wide: options.Wide = False, as_json: options.AsJson = False
) -> None:
    """Report which data files are there, and which groups can run."""
    from harness.commands import data as command

    options.show(command.status(data, wide=wide), as_json)


@data_app.command()
def fetch(
    tasks: TaskNames, data: options.DataFolder = None, as_json: options.AsJson = False
) -> None:
    """Download missing files to test and to train on; an interrupted transfer is continued."""
    from harness.commands import data as command

    options.show(command.fetch(tasks, data), as_json)


@data_app.command()
def verify(data: options.DataFolder = None, as_json: options.AsJson = False) -> None:
    """Check every data file that is there: each row, the number of rows, the SHA-256."""
    from harness.commands import data as command

    options.show(command.verify(data), as_json)


@data_app.command()
def contamination(
    tasks: TaskNames,
    data: options.DataFolder = None,
    train_data: options.TrainData = None,
    as_json: options.AsJson = False,
) -> None:
    """Count test rows in the training set of their group, and questions that benchmarks share."""
    from harness.commands import data as command

    options.show(command.contaminated(tasks, data, train_data), as_json)
