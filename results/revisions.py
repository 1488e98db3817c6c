"""Bring a store to the newest schema, or say why this version cannot read it.

The steps are Alembic's, run in the transaction of the caller instead of by Alembic's own
command, so that a store is never seen between two schemas.
"""

from pathlib import Path

import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import Script, ScriptDirectory
from sqlalchemy import Connection

from results.errors import ResultsError

# Not Alembic's default name: many other tools keep theirs under it in the same database.
VERSION_TABLE = "harness_schema"


MIGRATIONS = Path(__file__).parent / "migrations"


def upgrade(connection: Connection, name: str, folder: Path = MIGRATIONS) -> None:
    """Run the migrations that the store called `name` lacks; fail if it is read-only."""
    context = _context(connection)
    scripts = ScriptDirectory(folder)
    with Operations.context(context):
        for script in _missing(context.get_current_revision(), scripts, name):
            script.module.upgrade()
            context.stamp(scripts, script.revision)
    # Changes nothing, but a read-only store refuses it: better now than at the end of a run.
    connection.execute(sa.text(f"UPDATE {VERSION_TABLE} SET version_num = version_num"))


def check(connection: Connection, name: str, folder: Path = MIGRATIONS) -> None:
    """Raise `ResultsError` unless the store called `name` has the newest schema."""
    current = _context(connection).get_current_revision()
    if current is None:
        raise ResultsError(
            f"{name} is a database, but it holds no runs of this harness.\n"
            "  `harness run` makes a store; --store or HARNESS_STORE names another."
        )
    if _missing(current, ScriptDirectory(folder), name):
        raise ResultsError(
            f"The store {name} was written by an older version (schema {current}).\n"
            "  Any command that writes, such as `harness run`, brings it up to date."
        )


def _context(connection: Connection) -> MigrationContext:
    return MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})


def _missing(current: str | None, scripts: ScriptDirectory, name: str) -> list[Script]:
    """List the migrations after revision `current`, the next one first."""
    ordered = list(scripts.walk_revisions())[::-1]
    known = [None, *(script.revision for script in ordered)]
    if current not in known:
        raise ResultsError(
            f"The store {name} was written by a newer version (schema {current}; this version "
            f"knows up to {known[-1]}).\n"
            "  Upgrade the harness, or name another store with --store or HARNESS_STORE."
        )
    return ordered[known.index(current) :]
