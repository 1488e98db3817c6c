"""From one schema of the store to the next."""

import shutil
import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine

from results import revisions, schema
from results.errors import ResultsError
from results.store import Reader, Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "harness.db"


@pytest.fixture
def engine(path: Path) -> Engine:
    """Open a store of this version, past the door."""
    Store(path)
    return sa.create_engine(f"sqlite:///{path}", poolclass=sa.NullPool)


def _set_schema(path: Path, revision: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"UPDATE {revisions.VERSION_TABLE} SET version_num = ?", [revision])
    connection.commit()
    connection.close()


@pytest.mark.parametrize("opened", [Reader, Store])
def test_a_store_of_a_newer_schema_asks_for_an_upgrade(opened: type[Reader], path: Path) -> None:
    Store(path)
    _set_schema(path, "999")
    with pytest.raises(ResultsError, match=r"newer version \(schema 999; .*\n  Upgrade"):
        opened(path)


@pytest.fixture
def later(tmp_path: Path) -> Path:
    """Give the migrations of a later version, which adds a table."""
    folder = tmp_path / "migrations"
    shutil.copytree(revisions.MIGRATIONS, folder)
    (folder / "versions" / "v999_later.py").write_text(
        "from alembic import op\nrevision, down_revision = '999', '001'\n"
        "def upgrade(): op.execute('CREATE TABLE added (x INTEGER)')\n"
    )
    return folder


def test_a_store_of_an_older_schema_is_not_read_and_says_what_updates_it(
    engine: Engine, later: Path
) -> None:
    with (
        engine.connect() as connection,
        pytest.raises(ResultsError, match=r"older version \(schema 001\).*\n.*`harness run`"),
    ):
        revisions.check(connection, "harness.db", later)


def test_an_upgrade_runs_only_the_migrations_that_are_missing(engine: Engine, later: Path) -> None:
    with engine.begin() as connection:
        revisions.upgrade(connection, "harness.db", later)
        revisions.check(connection, "harness.db", later)
        assert sa.inspect(connection).has_table("added")


def test_the_migrations_lead_to_the_tables_of_the_schema(engine: Engine) -> None:
    with engine.connect() as connection:
        options = {"version_table": revisions.VERSION_TABLE}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, schema.metadata) == []
