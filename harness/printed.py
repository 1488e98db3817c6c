"""The one way to the terminal: no text that is printed steers it."""

import typer


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text, control characters as escapes; a tab harms nothing, and CSV may hold one."""
    # Not at the top: before it is asked whose `results` Python finds, nothing of it may run.
    from results.texts import visible  # noqa: PLC0415

    typer.echo(visible(text, keep="\n\t"), err=err, nl=nl)
