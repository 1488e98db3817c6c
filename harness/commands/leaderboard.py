"""`harness leaderboard`: pages over the store, served or as files."""

from functools import cache
from pathlib import Path

from harness.commands.one_run import items
from harness.commands.segments import segments
from harness.commands.tables import marked
from harness.plugins.titles import title
from results.analysis.testing.evidence import Texts
from results.leaderboard.build import build as write
from results.leaderboard.public import Public
from results.leaderboard.source import Source
from tasks.metrics import parts


def source(store_place: str, *, private: bool) -> Source:
    """Say what pages are made of; with `private`, they show folders and hosts too."""
    # Titles are read from the files of plugins, which do not change while pages are made.
    titles, texts = cache(title), Texts(segments, parts.SCORES)
    return Source(store_place, items.read, marked, Public(everything=private), titles, texts)


def build(store_place: str, out: Path, *, private: bool) -> str:
    """Write pages below `out`, and say how many files they are."""
    number = write(source(store_place, private=private), out)
    return (
        f"{number} files in {out}. Open {out / 'index.html'}, or copy the folder to a web server."
    )


def serve(store_place: str, host: str, port: int, names: list[str], *, private: bool) -> None:
    """Serve pages until the process is ended."""
    from results.leaderboard.server.app import serve as listen  # noqa: PLC0415 (a build needs none)

    listen(source(store_place, private=private), host, port, tuple(names))


def greeting(host: str, port: int) -> tuple[str, str]:
    """Say where the page is, and what a page without login means where others reach it."""
    from results.leaderboard.server.app import LOCAL, OPEN  # noqa: PLC0415

    address = f"http://{host}:{port}"
    return address, "" if host in LOCAL else OPEN.format(host=host, port=port)
