"""Commands that hand an adapter to others."""

from typing import Annotated

import typer

from harness.cli import options
from harness.printed import say


def card(run: options.RunName, store: options.StorePlace = "harness.db") -> None:
    """Print the model card of a run's adapter."""
    from harness.commands.one_run import card as command

    say(command.card(store, run), nl=False)


def push(
    run: options.RunName,
    repository: Annotated[str, typer.Argument(help="A new repository, owner/name.")],
    public: Annotated[
        bool, typer.Option("--public", help="Let everybody see it; private otherwise.")
    ] = False,
    store: options.StorePlace = "harness.db",
) -> None:
    """Upload a run's adapter with its card to a new repository of the Hugging Face hub."""
    from harness.commands.one_run import card as command

    say(command.push(store, run, repository, public=public))
