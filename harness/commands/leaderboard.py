"""`harness leaderboard`: pages over the store, served or as files."""

from functools import cache
from pathlib import Path

from harness.commands.audit import paper
from harness.commands.one_run import items
from harness.commands.segments import segments
from harness.commands.stored import marked
from harness.plugins.references import references
from harness.plugins.titles import title
from results.analysis.testing.evidence import Texts
from results.leaderboard.build import build as write
from results.leaderboard.public import Public
from results.leaderboard.source import Source
from tasks.metrics import parts


def source(store_place: str, *, private: bool, root: Path | None = None) -> Source:
    """Say what pages are made of; with `private`, they show folders and hosts too.

    Args:
        store_place: The store.
        private: Whether folders and hosts are shown.
        root: The folder of the run folders, where runs at work are looked for.
    """
    # Titles and papers are read from files that do not change while pages are made.
    return Source(
        store_place,
        items.read,
        marked,
        Public(everything=private),
        title=cache(title),
        references=references,
        paper=cache(paper),
        texts=Texts(segments, parts.SCORES),
        runs=root,
    )


def build(store_place: str, out: Path, *, private: bool) -> str:
    """Write pages below `out`, and say how many files they are."""
    number = write(source(store_place, private=private), out)
    return (
        f"{number} files in {out}. Open {out / 'index.html'}, or copy the folder to a web server."
    )


def serve(made_of: Source, host: str, port: int, names: list[str]) -> None:
    """Serve pages until the process is ended."""
    from results.leaderboard.server.app import serve as listen  # noqa: PLC0415 (a build needs none)

    listen(made_of, host, port, tuple(names))


def greeting(host: str, port: int) -> tuple[str, str]:
    """Say where the page is, and what a page without login means where others reach it."""
    from results.leaderboard.server.app import LOCAL, OPEN  # noqa: PLC0415

    address = f"http://{host}:{port}"
    return address, "" if host in LOCAL else OPEN.format(host=host, port=port)
