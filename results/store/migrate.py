"""Bring a store to the newest schema.

The steps are Alembic's, run in the transaction of the caller instead of by Alembic's own
command, so that a store is never seen between two schemas.
"""

from collections.abc import Sequence
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import Connection

from results.store.version import MIGRATIONS, VERSION_TABLE, current, missing


def upgrade(connection: Connection, name: str, folder: Path = MIGRATIONS) -> None:
    """Run the migrations that the store called `name` lacks; fail if it is read-only."""
    if lacking := missing(current(connection), name, folder):
        _run(connection, lacking, folder)
    # Changes nothing, but a read-only store refuses it: better now than at the end of a run.
    connection.execute(sa.text(f"UPDATE {VERSION_TABLE} SET version_num = version_num"))


def _run(connection: Connection, revisions: Sequence[str], folder: Path) -> None:
    # Alembic is slow, and a store of the newest schema needs none.
    from alembic.migration import MigrationContext  # noqa: PLC0415
    from alembic.operations import Operations  # noqa: PLC0415
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
    scripts = ScriptDirectory(folder)
    with Operations.context(context):
        for revision in revisions:
            scripts.get_revision(revision).module.upgrade()
            context.stamp(scripts, revision)
