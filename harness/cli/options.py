"""Options and output that several commands share."""

import re
import shlex
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from harness.printed import say

StorePlace = Annotated[
    str,
    typer.Option("--store", envvar="HARNESS_STORE", help="Database: a file or a SQLAlchemy URL."),
]
RunsRoot = Annotated[
    Path,
    typer.Option(
        "--runs", envvar="HARNESS_RUNS", file_okay=False, help="Folder of the run folders."
    ),
]
DataFolder = Annotated[
    Path | None,
    typer.Option(
        "--data", envvar="HARNESS_DATA", help="Folder of the real data; samples without it."
    ),
]
TrainData = Annotated[
    Path | None,
    typer.Option("--train-data", help="A training file instead of each group's own."),
]
RunName = Annotated[str, typer.Argument(help="The first digits of an id, or a run folder.")]
Wide = Annotated[bool, typer.Option("--wide", help="Let tables be wider than 100 characters.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Costs = Annotated[
    bool,
    typer.Option("--costs", help="Also show time, speed, memory and size of the adapter."),
]
OwnRecipes = Annotated[
    bool,
    typer.Option(
        "--own-recipes", help="Compare methods that were trained by recipes of their own."
    ),
]
PoolEras = Annotated[
    bool,
    typer.Option("--pool-eras", help="Let runs of different environments share a table or test."),
]
TestName = Annotated[
    str,
    typer.Option("--test", help="A test by name; an unknown one is answered with all names."),
]
Correction = Annotated[
    Literal["holm", "bh", "none"],
    typer.Option(help="For many comparisons: Holm, Benjamini-Hochberg or none."),
]
OneSided = Annotated[
    bool,
    typer.Option("--one-sided", help="Test only whether the declared method is better."),
]
Margin = Annotated[
    float | None,
    typer.Option(help="In points: test whether differences are smaller (equivalence, TOST)."),
]


def given(context: typer.Context) -> str:
    """Write the command with the options that a user gave, but for the place of the store.

    That says nothing of the numbers, and its address may hold a password.
    """
    words = ["harness", str(context.info_name)]
    for one in context.command.params:
        source = context.get_parameter_source(one.name or "")
        if source and source.name == "COMMANDLINE" and one.name != "store":
            value = context.params[one.name or ""]
            words += [one.opts[0]] if value is True else [one.opts[0], str(value)]
    return shlex.join(words)


def show(report: Any, as_json: bool) -> None:
    """Print a report as text or JSON, and end with 1 if something is wrong."""
    from results.reports.to_json import to_json

    say(to_json(report.value) if as_json else report.text)
    for note in report.notes:
        say(f"note: {note}", err=True)
    if not report.sound:
        raise typer.Exit(1)


def seconds(text: str) -> float:
    """Read a time with its unit.

    >>> seconds("90s"), seconds("30m"), seconds("1.5h")
    (90.0, 1800.0, 5400.0)

    Raises:
        typer.BadParameter: It is none.
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text.strip())
    if not found or not float(found[1]):
        raise typer.BadParameter(f"{text!r} is no time such as 90s, 30m or 2h.")
    return float(found[1]) * {"s": 1, "m": 60, "h": 3600}[found[2]]
