"""The one way to the terminal: no text that is printed steers it."""

import typer

from results.texts import visible


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text, control characters as escapes; a tab harms nothing, and CSV may hold one."""
    typer.echo(visible(text, keep="\n\t"), err=err, nl=nl)
