"""A store rebuilt beside the one that is damaged or not there, and swapped with it at once."""

import os
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy import Connection

from results.store import database
from results.store.sqlite import JOURNALS
from results.store.store import Store

Fill = Callable[[Store], None]


def rebuild(place: str, fill: Fill) -> str | None:
    """Build a new store beside what is at its place, and swap the two.

    Returns:
        Under which name what was there is kept; None if there was nothing.

    Raises:
        FileExistsError: There was no file before, and another process has made one since.
    """
    kept = f"damaged-{datetime.now():%Y%m%d-%H%M%S-%f}"
    path = database.path(place)
    return _file(path, fill, kept) if path else _tables(place, fill, kept.replace("-", "_"))


def _file(path: Path, fill: Fill, suffix: str) -> str | None:
    made = path.with_name(f".{path.name}.{uuid4().hex}.rebuilding")
    is_new = not path.exists()
    try:
        fill(Store(made))
        if is_new:
            path.hardlink_to(made)
            return None
        return _swapped(made, path, path.with_name(f"{path.name}.{suffix}"))
    finally:
        for end in ("", *JOURNALS):
            Path(f"{made}{end}").unlink(missing_ok=True)


def _swapped(made: Path, path: Path, kept: Path) -> str:
    """Put a file in the place of another. At every moment one of the two is there."""
    if path.is_dir():
        path.rename(kept)
        path.hardlink_to(made)
        return str(kept)
    shutil.copymode(path, made)
    kept.hardlink_to(path)
    for end in JOURNALS:
        if os.path.lexists(f"{path}{end}"):
            Path(f"{path}{end}").rename(f"{kept}{end}")
    made.replace(path)
    return str(kept)


def _tables(place: str, fill: Fill, kept: str) -> str | None:
    """Do the same in schemas of PostgreSQL, whose tables change their names in one transaction."""
    whole, made = database.to_write(place), kept.replace("damaged", "rebuilding")
    with whole.transaction() as connection:
        connection.execute(sa.schema.CreateSchema(made))
    try:
        fill(Store(database.in_schema(place, made)))
        with whole.transaction() as connection:
            return _moved(connection, made, kept)
    finally:
        with whole.transaction() as connection:
            connection.execute(sa.schema.DropSchema(made, cascade=True))


def _moved(connection: Connection, made: str, kept: str) -> str | None:
    inspector = sa.inspect(connection)
    here = inspector.default_schema_name
    new, old = (
        {*inspector.get_table_names(one), *inspector.get_view_names(one)} for one in (made, here)
    )
    if new & old:
        connection.execute(sa.schema.CreateSchema(kept))
    for name in sorted(new & old):
        _move(connection, name, f"{here}", kept)
    for name in sorted(new):
        _move(connection, name, made, f"{here}")
    return f"the schema {kept}" if new & old else None


def _move(connection: Connection, table: str, source: str, target: str) -> None:
    named = connection.dialect.identifier_preparer.quote
    connection.exec_driver_sql(
        f"ALTER TABLE {named(source)}.{named(table)} SET SCHEMA {named(target)}"
    )
