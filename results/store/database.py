"""From a path or a URL to a database whose errors are clear messages."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import URL, Connection, Engine
from sqlalchemy.exc import ArgumentError, DataError, DBAPIError
from sqlalchemy.pool import NullPool

from results.errors import ResultsError
from results.store import postgresql, sqlite


class UnstorableError(ResultsError):
    """The database takes no such value: a text with a NUL byte, or one that is too large."""


@dataclass(frozen=True)
class Database:
    """A database that is opened for each transaction, and the name it has in messages.

    Attributes:
        name: Without a password.
        engine: Opens it.
        beside: The folder of its file; None on a server.
    """

    name: str
    engine: Engine
    beside: Path | None = None

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Commit what is done inside, or undo all of it; explain what the database refuses."""
        try:
            with self.engine.begin() as connection:
                yield connection
        except DataError as error:
            raise UnstorableError(f"The store {self.name} answered: {error.orig}") from error
        except DBAPIError as error:
            text = sqlite.explanation(self.name, error)
            raise ResultsError(text or f"The store {self.name} answered: {error.orig}") from error

    def settle(self) -> None:
        """Finish opening for writing, when the database is known to be a store."""
        if _is_sqlite(self.engine.url):
            sqlite.prefer_wal(self.engine)


def to_write(place: str | Path) -> Database:
    """Open `place` for writing; a SQLite file that does not exist is made."""
    url = _url(place)
    if _is_sqlite(url):
        # Taking the lock at once, writers wait for each other instead of failing half-way.
        file, engine = sqlite.file(url), sqlite.engine(url, begin="BEGIN IMMEDIATE")
        if not file.exists():
            with suppress(OSError):  # SQLite, which comes next, has the message
                file.touch()  # by the user's umask; SQLite would let no group write
        return Database(sqlite.name(url), engine, file.parent)
    if url.get_backend_name() == postgresql.BACKEND:
        return Database(_name(url), postgresql.engine_to_write(url))
    return _server(url)


def to_read(place: str | Path) -> Database:
    """Open `place` for reading, never making a file."""
    url = _url(place)
    if _is_sqlite(url):
        file = sqlite.file(url)
        engine = sqlite.engine(sqlite.for_reading(url), begin="BEGIN")
        return Database(sqlite.name(url), engine, file.parent)
    return _server(url)


def name(place: str | Path) -> str:
    """Name a store as messages do: without the password of its URL."""
    return _name(_url(place)) if "://" in str(place) else str(place)


def path(place: str | Path) -> Path | None:
    """Give the file of a store, whatever is in its place; None where it is on a server."""
    url = _url(place)
    return sqlite.path(url) if _is_sqlite(url) else None


def in_schema(place: str, schema: str) -> str:
    """Name a store on the same server whose tables are in another schema."""
    inside = _url(place).update_query_dict({"options": f"-csearch_path={schema}"})
    return inside.render_as_string(hide_password=False)


def _url(place: str | Path) -> URL:
    if "://" not in str(place):
        return sqlite.url(place)
    try:
        # A mere URL would only say at the first use that its driver is missing.
        return sa.create_engine(str(place)).url
    except (ArgumentError, ValueError, ModuleNotFoundError) as error:
        raise ResultsError(
            f"The store cannot be opened by its URL: {error}\n"
            "  Please name a file, or a SQLAlchemy URL whose driver is installed."
        ) from error


def _is_sqlite(url: URL) -> bool:
    return url.get_backend_name() == sqlite.BACKEND


def _server(url: URL) -> Database:
    return Database(_name(url), sa.create_engine(url, poolclass=NullPool))


def _name(url: URL) -> str:
    return url.render_as_string(hide_password=True)
