"""Which schema a store has, and whether this version reads it; without Alembic, which is slow."""

from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import Connection

from results.errors import ResultsError

# Not Alembic's default name: many other tools keep theirs under it in the same database.
VERSION_TABLE = "harness_schema"

MIGRATIONS = Path(__file__).parent / "migrations"


def check(connection: Connection, name: str, folder: Path = MIGRATIONS) -> None:
    """Raise `ResultsError` unless the store called `name` has the newest schema."""
    found = current(connection)
    if found is None:
        raise ResultsError(
            f"{name} is a database, but it holds no runs of this harness.\n"
            "  `harness run` makes a store; --store or HARNESS_STORE names another."
        )
    if missing(found, name, folder):
        raise ResultsError(
            f"The store {name} was written by an older version (schema {found}).\n"
            "  `harness run` brings it up to date, and so does `harness reindex`."
        )


def missing(current: str | None, name: str, folder: Path = MIGRATIONS) -> list[str]:
    """List the revisions after `current`, the next one first.

    Raises:
        ResultsError: The store called `name` has a revision that this version does not know.
    """
    known = [None, *_revisions(folder)]
    if current not in known:
        raise ResultsError(
            f"The store {name} was written by a newer version (schema {current}; this version "
            f"knows up to {known[-1]}).\n"
            "  Upgrade the harness, or name another store with --store or HARNESS_STORE."
        )
    return [revision for revision in known[known.index(current) + 1 :] if revision]


def _revisions(folder: Path) -> list[str]:
    """List all revisions, the first one first, by the names of their files."""
    files = folder.glob("versions/v*.py")
    return sorted(path.stem.removeprefix("v").partition("_")[0] for path in files)


def current(connection: Connection) -> str | None:
    """Give the schema of a store; None for a database that is none."""
    if not sa.inspect(connection).has_table(VERSION_TABLE):
        return None
    revision: str | None = connection.scalar(sa.text(f"SELECT version_num FROM {VERSION_TABLE}"))
    return revision
