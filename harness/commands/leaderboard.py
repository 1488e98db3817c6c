"""`harness leaderboard`: pages over the store, served or as files."""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from socket import socket

from harness.commands.audit import paper
from harness.commands.one_run import items
from harness.commands.segments import segments
from harness.commands.stored import marked
from harness.errors import UserError
from harness.plugins.references import references
from harness.plugins.titles import title
from results.analysis.items import Item
from results.analysis.testing.evidence import Texts
from results.errors import ResultsError
from results.leaderboard.build import build as write
from results.leaderboard.public import Public
from results.leaderboard.source import Source
from results.runfolder.folder import RunFolder
from tasks.metrics import parts

REASONS = 10
"""Why something could not be read: so many are printed."""


def source(
    store_place: str, *, private: bool, pool_eras: bool = False, root: Path | None = None
) -> Source:
    """Say what pages are made of; with `private`, they show folders and hosts too.

    Args:
        store_place: The store.
        private: Whether folders and hosts are shown.
        pool_eras: Whether tables pool runs of different environments.
        root: The folder of the run folders, where runs at work are looked for.
    """
    # Titles and papers are read from files that do not change while pages are made.
    return Source(
        store_place,
        read,
        marked,
        Public(everything=private),
        title=cache(title),
        references=references,
        paper=cache(paper),
        texts=Texts(segments, parts.SCORES),
        runs=root,
        pool_eras=pool_eras,
    )


def read(folder: RunFolder, benchmark: str) -> list[Item]:
    """Read the items of a benchmark of a run.

    Raises:
        ResultsError: The folder keeps none, or a file of it is damaged.
    """
    try:
        return items.read(folder, benchmark)
    except UserError as error:
        raise ResultsError(str(error)) from error


def build(
    store_place: str, out: Path, *, private: bool, pool_eras: bool = False
) -> tuple[str, list[str]]:
    """Write pages below `out`; say how many files they are, and what could not be read."""
    built = write(source(store_place, private=private, pool_eras=pool_eras), out)
    first = out / "index.html"
    written = f"{built.files} files in {out}. Open {first}, or copy the folder to a web server."
    return written, left_out(built.lacks)


def left_out(lacks: Iterable[str]) -> list[str]:
    """Say what could not be read, the most frequent reason first.

    >>> left_out(["No folder.", "No folder.", "a is damaged."])
    ['left out, 2 times: No folder.', 'left out: a is damaged.']
    """
    counted = Counter(lacks).most_common()
    told = [f"left out{f', {n} times' if n > 1 else ''}: {why}" for why, n in counted[:REASONS]]
    rest = sum(n for _, n in counted[REASONS:])
    return told + ([f"left out: {rest} more."] if rest else [])


def listen(host: str, port: int) -> socket:
    """Take an address for a server.

    Raises:
        ResultsError: It is taken, or not of this machine.
    """
    from results.leaderboard.server import app  # noqa: PLC0415 (a build needs none)

    return app.listen(host, port)


def serve(made_of: Source, listening: socket, names: list[str]) -> None:
    """Serve pages until the process is ended."""
    from results.leaderboard.server import app  # noqa: PLC0415

    app.serve(made_of, listening, names)


def greeting(host: str, port: int) -> tuple[str, str]:
    """Say where the page is, and what a page without login means where others reach it."""
    from results.leaderboard.server.app import LOCAL, OPEN, bracketed  # noqa: PLC0415

    named = bracketed(host)
    return f"http://{named}:{port}", "" if named in LOCAL else OPEN.format(host=named, port=port)
