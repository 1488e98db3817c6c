"""Whether a store is whole, or has to be rebuilt from the run folders."""

import os
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, ProgrammingError

from results.errors import ResultsError, stands_in
from results.store import database, schema, sqlite, version
from results.store.reader import Reader

UNREADABLE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What reading a value raises that is not what was written."""

MISSING = "is not there"

AT_ONCE = 500
"""Attempts that are read at a time."""


def fault(place: str) -> str | None:
    """Say why a store has to be rebuilt; None if it is whole, and brought up to date.

    Raises:
        ResultsError: It is a device or the database of another program, or it was written by a
            newer version, or it cannot be written to.
    """
    path = database.path(place)
    return (_stranger(path) if path else None) or _damage(place) or _unreadable(place)


def _stranger(path: Path) -> str | None:
    """Say what is in the place of the file."""
    found = stands_in(path)
    if found == "a device":
        raise ResultsError(f"The store {path} is a device. Name a file with --store.")
    if found:
        return f"is {found}"
    return None if os.path.lexists(path) else MISSING


def _damage(place: str) -> str | None:
    """Say what the database finds in disorder, or what is gone of the schema."""
    name, engine = database.name(place), database.to_write(place).engine
    try:
        with engine.connect() as connection, connection.begin() as transaction:
            found = _in_disorder(connection) or _gone(connection, name)
            if found:  # it is kept as it was
                transaction.rollback()
            return found
    except UNREADABLE as error:  # by a migration
        return f"is damaged: an attempt of it cannot be read ({error})"
    except DBAPIError as error:
        if isinstance(error, ProgrammingError) or sqlite.is_damage(error):
            return f"is damaged: {error.orig}"
        text = sqlite.explanation(name, error)
        raise ResultsError(text or f"The store {name} answered: {error.orig}") from error


def _in_disorder(connection: Connection) -> str | None:
    if connection.dialect.name != sqlite.BACKEND:
        return None
    found: list[str] = list(connection.exec_driver_sql("PRAGMA integrity_check").scalars())
    return None if found == ["ok"] else f"is damaged: {found[0]}"


def _gone(connection: Connection, name: str) -> str | None:
    """Bring a store up to date, and name the first table that it has lost or that is not whole."""
    before = _columns(connection)
    if version.VERSION_TABLE not in before and before:
        if "run_id" not in before.get("runs", ()):
            raise ResultsError(
                f"{name} is the database of another program.\n  Please {sqlite.ANOTHER}"
            )
        return f"has lost the table {version.VERSION_TABLE}"
    from results.store import migrate  # noqa: PLC0415 (Alembic is slow, reading needs none)

    migrate.upgrade(connection, name)
    after = _columns(connection)
    for table in schema.metadata.sorted_tables:
        if not after.get(table.name, set()).issuperset(table.columns.keys()):
            return f"has lost the table {table.name}, or a part of it"
    gone = sorted(schema.VIEWS - {*sa.inspect(connection).get_view_names()})
    return f"has lost the view {gone[0]}" if gone else None


def _columns(connection: Connection) -> dict[str, set[str]]:
    """Name the columns of all tables."""
    inspector = sa.inspect(connection)
    return {
        name: {column["name"] for column in inspector.get_columns(name)}
        for name in inspector.get_table_names()
    }


def _unreadable(place: str) -> str | None:
    """Say which error reading every attempt gives: a byte may have changed in any value."""
    reader, first = Reader(place), 0
    try:
        while part := reader.page(first, AT_ONCE, forgotten=None):
            reader.verdicts({run.run_id: run for run in part}.values())
            first += AT_ONCE
    except UNREADABLE as error:
        return f"is damaged: an attempt of it cannot be read ({error})"
    except ResultsError as error:
        cause = error.__cause__
        if isinstance(cause, DBAPIError) and sqlite.is_damage(cause):
            return f"is damaged: {cause.orig}"
        raise
    return None
