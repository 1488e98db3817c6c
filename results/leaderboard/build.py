"""The same pages as files, for any web server, or to be opened from disk."""

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

from results.errors import ResultsError
from results.leaderboard.files import SORTS, Make
from results.leaderboard.folder import place, staged
from results.leaderboard.source import Opened, Source

CHUNK = 4
"""Parts that a process takes at a time."""


@dataclass(frozen=True)
class Built:
    """What a build wrote."""

    files: int
    lacks: tuple[str, ...]
    """What could not be read, a sentence for each file that lacks it."""


def build(source: Source, out: Path) -> Built:
    """Write all pages below `out`, in place of those that an earlier build wrote there.

    Raises:
        ResultsError: The store cannot be read or holds no runs, or `out` holds other files.
    """
    if not source.open().kinds:
        raise ResultsError(f"The store {source.place} holds no runs to build pages of.")
    with staged(out) as stage:
        written = list(_written(source, stage))
        # What is made first leads to what is made later, and so is placed after it.
        names = [path for path, _ in reversed(written)]
        place(stage, out, names)
    return Built(len(names), tuple(lacks for _, lacks in written if lacks))


def _written(source: Source, stage: Path) -> Iterator[tuple[str, str]]:
    """Write all files, and yield their paths and what they lack."""
    opened, cores = source.open(), len(os.sched_getaffinity(0))
    # Forked: what reads items is given by the caller, and need not be known by a name.
    with ProcessPoolExecutor(cores, get_context("fork"), _begin, (source,)) as workers:
        for parts, files in SORTS:
            write = partial(_write, stage, files)
            for done in workers.map(write, parts(opened), chunksize=CHUNK):
                yield from done


_opened: Opened
"""Of this process."""


def _begin(source: Source) -> None:
    global _opened  # noqa: PLW0603 (an executor hands its workers nothing else)
    _opened = source.open()
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    # A worker whose parent is killed would wait for its next part for ever.
    if parent := parent_process():
        parent.join()
        os._exit(1)


def _write(stage: Path, files: Make, part: Any) -> list[tuple[str, str]]:
    done = []
    for file in files(_opened, part):
        path = stage / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(file.text, encoding="utf-8", errors="backslashreplace")
        done.append((file.path, file.lacks))
    return done
