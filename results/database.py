"""From a path or a URL to a database, and from its faults to one clear message."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import sqlalchemy as sa
from sqlalchemy import URL, Connection, Engine, event
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import NullPool

from results.errors import ResultsError

BUSY_SECONDS = 30
ANOTHER = "name another store with --store or HARNESS_STORE."


@dataclass(frozen=True)
class Database:
    """A database that is opened anew for every transaction, and how messages call it."""

    name: str
    engine: Engine

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Commit what is done inside, or undo all of it; explain what the database refuses."""
        try:
            with self.engine.begin() as connection:
                yield connection
        except DBAPIError as error:
            raise ResultsError(_explanation(self.name, error)) from error


def to_write(place: str | Path) -> Database:
    """Open `place` for writing; a SQLite file that does not exist comes into being."""
    url = _url(place)
    # Taking the lock at once, writers wait for each other instead of failing half-way.
    return Database(_name(url), _engine(url, begin="BEGIN IMMEDIATE"))


def to_read(place: str | Path) -> Database:
    """Open `place` for reading, never making a file."""
    url = _url(place)
    name = _name(url)
    if _is_plain_file(url):
        if not Path(name).exists():
            raise ResultsError(
                f"There is no store at {name}.\n  `harness run` makes one; or {ANOTHER}"
            )
        # Not mode=ro: after a crash of its writer, SQLite must first undo the broken transaction.
        url = url.set(database=Path(name).absolute().as_uri(), query={"mode": "rw", "uri": "true"})
    return Database(name, _engine(url, begin="BEGIN"))


def _url(place: str | Path) -> URL:
    if "://" not in str(place):
        return URL.create("sqlite", database=str(place))
    try:
        # A mere URL would only say at the first use that its driver is missing.
        return sa.create_engine(str(place)).url
    except (ArgumentError, ValueError, ModuleNotFoundError) as error:
        raise ResultsError(
            f"The store cannot be opened by its URL: {error}\n"
            "  Please name a file, or a SQLAlchemy URL whose driver is installed."
        ) from error


def _name(url: URL) -> str:
    if url.get_backend_name() != "sqlite":
        return url.render_as_string(hide_password=True)
    return url.database or ":memory:"


def _is_plain_file(url: URL) -> bool:
    return url.get_backend_name() == "sqlite" and "uri" not in url.query


def _engine(url: URL, begin: Literal["BEGIN", "BEGIN IMMEDIATE"]) -> Engine:
    if url.get_backend_name() != "sqlite":
        return sa.create_engine(url, poolclass=NullPool)
    # isolation_level None: sqlite3 leaves it to us when a transaction begins.
    arguments = {"timeout": BUSY_SECONDS, "isolation_level": None}
    engine = sa.create_engine(url, poolclass=NullPool, connect_args=arguments)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    return engine


def _explanation(name: str, error: DBAPIError) -> str:
    code = getattr(error.orig, "sqlite_errorname", "")
    for prefix, explanation in _EXPLANATIONS.items():
        if code.startswith(prefix):
            return explanation.format(name=name)
    return f"The store {name} answered: {error.orig}"


_EXPLANATIONS = {
    "SQLITE_NOTADB": "{name} is not a database, so it cannot be the store.\n  Please " + ANOTHER,
    "SQLITE_CANTOPEN": (
        "The store {name} cannot be opened: it must be a file, not a folder, in a folder that "
        "exists and that you may enter.\n  Please correct that, or " + ANOTHER
    ),
    "SQLITE_READONLY": (
        "The store {name} is read-only, so nothing can be added to it.\n"
        "  Please make the file and its folder writable, or " + ANOTHER
    ),
    "SQLITE_FULL": (
        "There is no space left for the store {name}. What it held before is unharmed, and the "
        "run folders are whole.\n  Please make room, then `harness reindex` adds what is missing."
    ),
    "SQLITE_BUSY": (
        f"The store {{name}} has been kept busy by another process for {BUSY_SECONDS} seconds.\n"
        "  Please try again when that one is done."
    ),
}
