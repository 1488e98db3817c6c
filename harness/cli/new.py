"""Commands that write a file to start from."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options

app = typer.Typer(help="Write a method or a benchmark of your own that runs as it is.")


@app.command()
def method(
    name: Annotated[str, typer.Argument(help="Its name; NAME.py is written here.")],
    as_json: options.AsJson = False,
) -> None:
    """Write a small method, a low-rank adapter beside each linear layer, to be changed."""
    from harness.commands.new.method import method as command

    options.show(command(name), as_json)


@app.command()
def benchmark(
    name: Annotated[str, typer.Argument(help="Its name; NAME.py is written here.")],
    rows: Annotated[
        Path, typer.Option("--from", help="Questions and answers: JSON, JSON lines or CSV.")
    ],
    as_json: options.AsJson = False,
) -> None:
    """Write a benchmark of the rows of a file: question, answer and kind are guessed and told."""
    from harness.commands.new.benchmark import benchmark as command

    options.show(command(name, rows), as_json)
