"""Pages over the store."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import options
from harness.printed import say

app = typer.Typer(help="Pages over the store: served, or as files.")

Private = Annotated[
    bool, typer.Option("--private", help="Also show folders, host names and user names.")
]


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen at.", min=1, max=65535)] = 8000,
    name: Annotated[
        list[str] | None,
        typer.Option(help="A name of this machine by which visitors ask for it; may be repeated."),
    ] = None,
    private: Private = False,
    pool_eras: options.PoolEras = False,
    store: options.StorePlace = "harness.db",
    root: options.RunsRoot = Path("runs"),
) -> None:
    """Serve pages over the store at http://127.0.0.1:8000."""
    from harness.commands import leaderboard
    from results.store import database

    listening = leaderboard.listen(host, port)
    address, warning = leaderboard.greeting(host, port)
    say(f"Pages over {database.name(store)}: {address} (Ctrl-C ends)")
    if warning:
        say(warning, err=True)
    made_of = leaderboard.source(store, private=private, pool_eras=pool_eras, root=root)
    leaderboard.serve(made_of, listening, [host, *(name or [])])


@app.command()
def build(
    out: Annotated[Path, typer.Option(help="The folder to write into.")],
    private: Private = False,
    pool_eras: options.PoolEras = False,
    store: options.StorePlace = "harness.db",
) -> None:
    """Write the same pages as files, for any web server or to be opened from disk."""
    from harness.commands import leaderboard

    written, left_out = leaderboard.build(store, out, private=private, pool_eras=pool_eras)
    say(written)
    for line in left_out:
        say(line, err=True)
