"""What is true of SQLite only: a store is a file, writers take one lock, errors are codes."""

import json
import os
import sqlite3
from contextlib import closing, suppress
from functools import lru_cache
from pathlib import Path
from typing import Literal

import sqlalchemy as sa
from sqlalchemy import URL, Engine, event
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from results.errors import ResultsError, stands_in

BACKEND = "sqlite"
READERS_WAIT, WRITERS_WAIT = 30, 300
"""Seconds for which another process may keep a store busy: a finished run is worth waiting."""

SHARED_MEMORY = {
    *("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "bcachefs", "tmpfs", "overlay"),
}
"""File systems of one machine. WAL needs memory that all processes at a store share: over a network
file system there is none, and two machines would damage the store."""

MOUNTS = Path("/proc/self/mountinfo")
JOURNALS = ("-journal", "-wal", "-shm")
"""What SQLite keeps beside a file; applied to another file, it would damage that."""

DAMAGED = ("SQLITE_CORRUPT", "SQLITE_ERROR", "SQLITE_FORMAT", "SQLITE_NOTADB")
"""Answers of SQLite that mean that the content is not what it was."""

ANOTHER = "name another store with --store or HARNESS_STORE."


def url(path: str | Path) -> URL:
    """Name the database in the file `path`."""
    return URL.create(BACKEND, database=str(path))


def name(url: URL) -> str:
    """Name a database as messages call it."""
    return url.database or ":memory:"


def file(url: URL) -> Path:
    """Give the file of a database, whatever links lead to it.

    Raises:
        ResultsError: It is not kept in a file, or something else is in the place of the file.
    """
    file = path(url)
    if found := stands_in(file):
        raise ResultsError(
            f"The store {name(url)} cannot be opened: it must be a file, not {found}.\n"
            f"  Please {ANOTHER}"
        )
    return file


def path(url: URL) -> Path:
    """Give the place of the file of a database, whatever links lead to it.

    Raises:
        ResultsError: It is not kept in a file.
    """
    if ":memory:" in name(url) or url.query.get("mode") == "memory":
        raise ResultsError(f"A store in memory keeps nothing.\n  Please {ANOTHER}")
    given = name(url)
    return Path(
        given.removeprefix("file:").partition("?")[0] if given.startswith("file:") else given
    ).resolve()


def for_reading(url: URL) -> URL:
    """Let opening `url` never make a file; a URL that brings its own `uri` option is kept.

    Raises:
        ResultsError: There is no such file.
    """
    if "uri" in url.query:
        return url
    path = Path(name(url))
    if not path.exists():
        raise ResultsError(f"There is no store at {path}.\n  `harness run` makes one; or {ANOTHER}")
    at_work = any(Path(f"{path}{end}").exists() for end in ("-journal", "-wal"))
    if not os.access(path.parent, os.W_OK) and not at_work:
        # SQLite would make files beside it; without them there is no writer to be seen.
        return url.set(database=path.absolute().as_uri(), query={"immutable": "1", "uri": "true"})
    # Not mode=ro: after a crash of its writer, SQLite must first undo the broken transaction.
    return url.set(database=path.absolute().as_uri(), query={"mode": "rw", "uri": "true"})


def engine(url: URL, begin: Literal["BEGIN", "BEGIN IMMEDIATE"]) -> Engine:
    """Begin every transaction with `begin`; BEGIN IMMEDIATE takes the lock of writers at once."""
    # isolation_level None: sqlite3 leaves it to us when a transaction begins.
    wait = WRITERS_WAIT if begin == "BEGIN IMMEDIATE" else READERS_WAIT
    arguments = {"timeout": wait, "isolation_level": None}
    made = sa.create_engine(
        url, poolclass=NullPool, connect_args=arguments, json_deserializer=lru_cache(json.loads)
    )
    event.listen(made, "begin", lambda connection: connection.exec_driver_sql(begin))
    if begin == "BEGIN IMMEDIATE":
        event.listen(made, "do_connect", lambda *_: _share_rights(path(url)))
    return made


def beside(path: Path) -> list[Path]:
    """List what SQLite keeps beside a file at the moment."""
    return [one for end in JOURNALS if (one := path.with_name(path.name + end)).exists()]


def _share_rights(path: Path) -> None:
    """Give the files beside a store its rights: SQLite made them with those of that moment."""
    for one in beside(path):
        with suppress(OSError):  # another user's, or gone
            rights, wanted = one.stat().st_mode, path.stat().st_mode
            if wanted & ~rights:
                one.chmod(wanted | rights)


def prefer_wal(engine: Engine) -> None:
    """Let readers and the writer work side by side, where the file system allows."""
    path = engine.url.database
    if not path or "uri" in engine.url.query or not shares_memory(Path(path)):
        return
    # A store that another process has open is switched by the next that has it for itself.
    with (
        closing(sqlite3.connect(path, timeout=0)) as connection,
        suppress(sqlite3.OperationalError),
    ):
        connection.execute("PRAGMA journal_mode=WAL")


def shares_memory(path: Path, mounts: Path = MOUNTS) -> bool:
    """Tell whether all processes that reach a file are on this machine."""
    with suppress(OSError):
        lines = [line.split() for line in mounts.read_text().splitlines()]
        # Fields 5 is the mount point; the type of the file system follows the dash.
        kinds = {line[4]: line[line.index("-") + 1] for line in lines}
        above = [str(one) for one in path.absolute().parents]
        return next((kinds[one] for one in above if one in kinds), "") in SHARED_MEMORY
    return False


def explanation(name: str, error: DBAPIError) -> str | None:
    """Explain an error of the store called `name`; None for an error without an explanation."""
    code = getattr(error.orig, "sqlite_errorname", "")
    for prefix, text in _EXPLANATIONS.items():
        if code.startswith(prefix):
            return text.format(name=name, locked=_locked(name))
    return None


def is_damage(error: DBAPIError) -> bool:
    """Tell whether an error means that the content of a file is not what it was."""
    code = getattr(error.orig, "sqlite_errorname", None)
    # Of a text that is not UTF-8 the driver complains, which has no codes.
    return code.startswith(DAMAGED) if code else isinstance(error.orig, sqlite3.Error)


def _locked(name: str) -> str:
    """List what the user may not write to of a store, and of its folder."""
    file = path(url(name))
    found = [one for one in (file.parent, file, *beside(file)) if not os.access(one, os.W_OK)]
    return ", ".join(map(str, found)) or "the file and its folder"


_EXPLANATIONS = {
    "SQLITE_CORRUPT": (
        "The store {name} is damaged.\n"
        "  `harness reindex` rebuilds it from the run folders, and keeps what is there now."
    ),
    "SQLITE_NOTADB": (
        "{name} is not a database, so it cannot be the store.\n  If it was one, `harness reindex` "
        "rebuilds it from the run folders. If not, please " + ANOTHER
    ),
    "SQLITE_CANTOPEN": (
        "The store {name} cannot be opened: it must be a file, not a folder, in a folder that "
        "exists and that you may enter.\n  Please correct that, or " + ANOTHER
    ),
    "SQLITE_READONLY": (
        "The store {name} is read-only, so nothing can be added to it.\n"
        "  Please make {locked} writable, or " + ANOTHER
    ),
    "SQLITE_FULL": (
        "There is no space left for the store {name}. What it held before is unharmed, and the "
        "run folders are whole.\n  Please make room, then `harness reindex` adds what is missing."
    ),
    "SQLITE_BUSY": (
        f"The store {{name}} has been kept busy by another process for {READERS_WAIT} seconds or "
        f"more (writers wait for {WRITERS_WAIT}).\n"
        "  Please try again when that one is done."
    ),
}
