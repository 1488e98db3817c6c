"""Bring a store to the newest schema.

The steps are Alembic's, run in the transaction of the caller instead of by Alembic's own
command, so that a store is never seen between two schemas.
"""

from pathlib import Path

import sqlalchemy as sa
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from results.store.version import MIGRATIONS, VERSION_TABLE, missing


def upgrade(connection: Connection, name: str, folder: Path = MIGRATIONS) -> None:
    """Run the migrations that the store called `name` lacks; fail if it is read-only."""
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    scripts = ScriptDirectory(folder)
    with Operations.context(context):
        for revision in missing(context.get_current_revision(), name, folder):
            scripts.get_revision(revision).module.upgrade()
            context.stamp(scripts, revision)
    # Changes nothing, but a read-only store refuses it: better now than at the end of a run.
    connection.execute(sa.text(f"UPDATE {VERSION_TABLE} SET version_num = version_num"))
