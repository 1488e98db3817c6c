"""From one schema of the store to the next."""

import shutil
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine

from results.errors import ResultsError
from results.fields import Condition, Field
from results.record import Run, Score
from results.store import Reader, Store, database, migrate, schema, version
from results.store.health import fault
from results.store.query import Query

Make = Callable[..., Run]

NEWEST = version.missing(None, "harness.db")[-1]


@pytest.fixture
def empty(place: str) -> Engine:
    """Open an empty database, past the door."""
    return database.to_write(place).engine


@pytest.fixture
def engine(place: str) -> Engine:
    """Open a store of this version, past the door."""
    Store(place)
    return database.to_write(place).engine


@pytest.mark.parametrize("opened", [Reader, Store])
def test_a_store_of_a_newer_schema_asks_for_an_upgrade(
    opened: type[Reader], place: str, engine: Engine
) -> None:
    with engine.begin() as connection:
        connection.execute(sa.text(f"UPDATE {version.VERSION_TABLE} SET version_num = '999'"))
    with pytest.raises(ResultsError, match=r"newer version \(schema 999; .*\n  Upgrade"):
        opened(place)


@pytest.fixture
def later(tmp_path: Path) -> Path:
    """Give the migrations of a later version, which adds a table."""
    folder = tmp_path / "migrations"
    shutil.copytree(version.MIGRATIONS, folder)
    (folder / "versions" / "v999_later.py").write_text(
        f"from alembic import op\nrevision, down_revision = '999', '{NEWEST}'\n"
        "def upgrade(): op.execute('CREATE TABLE added (x INTEGER)')\n"
    )
    return folder


def test_a_store_of_an_older_schema_is_not_read_and_says_what_updates_it(
    engine: Engine, later: Path
) -> None:
    with (
        engine.connect() as connection,
        pytest.raises(ResultsError, match=rf"older version \(schema {NEWEST}\).*\n.*`harness run`"),
    ):
        version.check(connection, "harness.db", later)


def test_an_upgrade_runs_only_the_migrations_that_are_missing(engine: Engine, later: Path) -> None:
    with engine.begin() as connection:
        migrate.upgrade(connection, "harness.db", later)
        version.check(connection, "harness.db", later)
        assert sa.inspect(connection).has_table("added")


def before(name: str, tmp_path: Path) -> Path:
    """Give the migrations before the one whose file begins with `name`."""
    folder = tmp_path / "before"
    shutil.copytree(version.MIGRATIONS, folder)
    for file in folder.glob("versions/v*.py"):
        if file.name >= name:
            file.unlink()
    return folder


def first_schema(connection: Connection, tmp_path: Path, run: Run) -> sa.MetaData:
    """Make a store as the first schema has it, with a run but without its scores."""
    fields = {"attempt": 1} | asdict(run)
    later = ("fold", "flags", "recipe", "provenance", "scores")
    for name in (*later, "conditions", "backbone_place", "validation_loss"):
        del fields[name]
    migrate.upgrade(connection, "harness.db", before("v002", tmp_path))
    old = sa.MetaData()
    old.reflect(connection)
    connection.execute(sa.insert(old.tables["runs"]), fields)
    return old


def test_a_store_of_before_with_a_value_that_no_migration_can_read_is_damaged(
    place: str, empty: Engine, tmp_path: Path, make: Make
) -> None:
    with empty.begin() as connection:
        old = first_schema(connection, tmp_path, make(started=datetime(2026, 1, 1)))
        connection.execute(sa.update(old.tables["runs"]).values(spec=["not a spec"]))
    assert "an attempt of it cannot be read" in (fault(place) or "")
    with empty.connect() as connection:
        assert version.current(connection) == "001"  # kept as it was


def test_runs_of_the_first_schema_keep_their_accuracies(
    place: str, empty: Engine, tmp_path: Path, make: Make
) -> None:
    # Without a zone, as the first schema keeps it.
    spec = {"train": {"lr": 0.0002, "epochs": 3}, "generate": {"batch_size": 8}}
    run = make(started=datetime(2026, 1, 1), recipe="", provenance={}, spec=spec)
    gsm8k = {"attempt": 1, "benchmark": "gsm8k", "n": 1319}
    with empty.begin() as connection:
        old = first_schema(connection, tmp_path, run)
        paper = {"position": 0, "extractor": "llm-adapters", "headline": True, "correct": 880}
        strict = {"position": 1, "extractor": "strict", "headline": False, "correct": 7}
        connection.execute(sa.insert(old.tables["scores"]), [gsm8k | paper, gsm8k | strict])
    (found,) = Store(place).runs()
    scores = (
        Score("gsm8k", "accuracy", "llm-adapters", True, 880 / 1319, 1319),
        Score("gsm8k", "accuracy", "strict", False, 7 / 1319, 1319),
    )
    # What that schema did not keep is read from the spec: 1e-3 and 32 were the defaults.
    conditions = {"recipe": {"lr": 0.0002}, "batches": {"batch_size": 8}}
    started = datetime(2026, 1, 1, tzinfo=UTC)
    assert found == replace(run, started=started, scores=scores, conditions=conditions)
    assert Store(place).kinds() == [found.kind]


def test_runs_of_before_are_of_the_kinds_that_new_runs_are_of(
    place: str, empty: Engine, make: Make, tmp_path: Path
) -> None:
    spec = {"backbone": {"name": "Llama", "revision": "ab"}, "tests": {"gsm8k": {}, "aqua": {}}}
    runs = [make(seed=1, spec=spec), make(seed=2, minute=1, group="qa", correct={"boolq": 3})]
    with empty.begin() as connection:
        migrate.upgrade(connection, "harness.db", before("v008", tmp_path))
        old = sa.MetaData()
        old.reflect(connection)
        for run in runs:
            fields = asdict(run) | {"started": run.started.replace(tzinfo=None)}
            scores = fields.pop("scores")
            inserted = sa.insert(old.tables["runs"]).returning(old.tables["runs"].c.attempt)
            attempt = connection.execute(inserted, fields).scalar_one()
            rows = [{"attempt": attempt, "position": 0} | score for score in scores]
            connection.execute(sa.insert(old.tables["scores"]), rows)
    store = Store(place)
    for group in ("math", "qa"):
        (found,) = store.runs(groups=[group])
        assert found.group == group
    assert store.kinds() == [runs[1].kind, runs[0].kind]
    store.add(make(seed=3, spec=spec, minute=2))  # adds no kind of its own
    assert store.kinds() == [runs[0].kind, runs[1].kind]


@pytest.mark.parametrize("released", version.missing("001", "harness.db"))
def test_a_store_of_every_schema_keeps_its_runs(
    place: str, empty: Engine, make: Make, tmp_path: Path, released: str
) -> None:
    spec = {"backbone": {"name": "tiny", "revision": "ab"}, "train": {"lr": 0.0002}}
    run = make(
        spec=spec,
        recipe="",
        provenance={},
        correct={"gsm8k": 50, "aqua": 70},
        conditions={"recipe": {"lr": 0.0002}},
    )
    after = [one for one in version.missing(None, "harness.db") if one > released]
    with empty.begin() as connection:
        folder = before(f"v{after[0]}", tmp_path) if after else version.MIGRATIONS
        migrate.upgrade(connection, "harness.db", folder)
        insert(connection, run)
    (found,) = Store(place).runs()
    assert found == run
    field, shares = Field("train.lr", "number"), Field("micro.accuracy", "number", "accuracy")
    for condition in (Condition(field, "=", 0.0002), Condition(shares, ">", 0.59)):
        # A row made past the door of schema 012 or later is without what finds it.
        assert Reader(place).select(Query((condition,)), 9) == (
            [run] if "012" in after else [],
            "012" in after,
        )


def insert(connection: sa.Connection, run: Run) -> None:
    """Insert a run past the door, into whatever columns there are."""
    old = sa.MetaData()
    old.reflect(connection)
    values = asdict(run) | {"started": run.started.replace(tzinfo=None), "attempt": 1, "kind": ""}
    values |= {"spec_facts": 0, "environment_facts": 0}
    for name in ("runs", "documents"):
        if name in old.tables:
            table = old.tables[name]
            row = {key: one for key, one in values.items() if key in table.c}
            connection.execute(sa.insert(table), row)
    scores = old.tables["scores"]
    for position, score in enumerate(values["scores"]):
        row = {key: one for key, one in score.items() if key in scores.c}
        connection.execute(sa.insert(scores), row | {"attempt": 1, "position": position})


def test_the_migrations_lead_to_the_tables_of_the_schema(engine: Engine) -> None:
    with engine.connect() as connection:
        options = {"version_table": version.VERSION_TABLE}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, schema.metadata) == []


def test_the_names_of_the_files_give_the_order_that_the_migrations_give() -> None:
    scripts = list(ScriptDirectory(version.MIGRATIONS).walk_revisions())
    assert version.missing(None, "harness.db") == [one.revision for one in reversed(scripts)]
