"""Let runs be found by any field: long texts apart, fields, averages, tags, notes, views."""

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column, Connection

revision = "012"
down_revision = "011"

LONG = {"reason": sa.Text} | dict.fromkeys(
    (
        *("seconds", "marks", "flags", "spec", "environment", "provenance", "conditions"),
        *("peak_memory", "nondeterministic_kernels"),
    ),
    sa.JSON,
)
FACTS = ("spec_facts", "environment_facts")
AT_ONCE = 1_000
"""Runs in memory at a time."""

RUNS = sa.table("runs", *map(sa.column, ("attempt", "wall_seconds", *FACTS)))
DOCUMENTS = sa.table(
    "documents",
    sa.column("attempt"),
    *(sa.column(name, sa.JSON) for name in ("seconds", "spec", "environment")),
)


def upgrade() -> None:
    """Move the long columns to a table of their own; fill the other tables from what is there."""
    connection = op.get_bind()
    _move_long_columns(connection)
    _make_facts(connection)
    _make_averages()
    _make_remarks()
    for view in (V_RUNS, V_SCORES):
        op.execute(view)


def _move_long_columns(connection: Connection) -> None:
    op.create_table(
        "documents",
        Column("attempt", sa.Integer, sa.ForeignKey("runs.attempt"), primary_key=True),
        *(Column(name, kind, nullable=False) for name, kind in LONG.items()),
    )
    names = ", ".join(("attempt", *LONG))
    op.execute(f"INSERT INTO documents ({names}) SELECT {names} FROM runs")
    with op.batch_alter_table("runs") as runs:
        for name in LONG:
            runs.drop_column(name)
        runs.add_column(Column("wall_seconds", sa.Double, nullable=True))
        for name in FACTS:
            runs.add_column(Column(name, sa.BigInteger, nullable=False, server_default="0"))


def _make_facts(connection: Connection) -> None:
    fields = op.create_table(
        "fields",
        Column("field", sa.BigInteger, primary_key=True, autoincrement=False),
        Column("name", sa.Text, nullable=False),
        Column("value", sa.Text, nullable=False),
        Column("number", sa.Double, nullable=True),
    )
    facts = op.create_table(
        "facts",
        Column("key", sa.BigInteger, primary_key=True, autoincrement=False),
        Column("field", sa.BigInteger, primary_key=True, autoincrement=False),
        sqlite_with_rowid=False,
    )
    op.create_index("fields_by_name", "fields", ["name"])
    known: set[int] = set()
    for part in _documents(connection):
        changed = []
        for row in part:
            spec = {name: one for name, one in row.spec.items() if name not in ("seeds", "fold")}
            sets = [dict(_flat(spec)), dict(_flat(row.environment, "environment."))]
            keys = [_keep(connection, fields, facts, one, known) for one in sets]
            changed.append([row.attempt, row.seconds.get("wall"), *keys])
        _change(connection, changed)
    op.create_index("facts_by_field", "facts", ["field", "key"])
    shown = ["started", "attempt", "status", "wall_seconds"]
    op.create_index("runs_by_spec", "runs", ["spec_facts", *shown])
    op.create_index("runs_by_environment", "runs", ["environment_facts", *shown])


def _documents(connection: Connection) -> Iterator[list[Any]]:
    last = 0
    while True:
        after = sa.select(DOCUMENTS).where(DOCUMENTS.c.attempt > last)
        part = connection.execute(after.order_by(DOCUMENTS.c.attempt).limit(AT_ONCE)).all()
        if not part:
            return
        yield list(part)
        last = part[-1].attempt


def _keep(
    connection: Connection,
    fields: sa.Table,
    facts: sa.Table,
    values: Mapping[str, Any],
    known: set[int],
) -> int:
    rows = {_key([name, value]): (name, value) for name, value in values.items()}
    key = _key(sorted(rows))
    if key in known or not rows:
        return key
    added = [
        {"field": field, "name": name, "value": _written(value), "number": _number(value)}
        for field, (name, value) in rows.items()
        if field not in known
    ]
    if added:
        connection.execute(sa.insert(fields), added)
    connection.execute(sa.insert(facts), [{"key": key, "field": field} for field in rows])
    known.update(rows, [key])
    return key


def _change(connection: Connection, changed: list[list[Any]]) -> None:
    names = ("attempt_", "wall", "of_spec", "of_environment")
    statement = (
        sa.update(RUNS)
        .where(RUNS.c.attempt == sa.bindparam("attempt_"))
        .values(
            wall_seconds=sa.bindparam("wall"),
            spec_facts=sa.bindparam("of_spec"),
            environment_facts=sa.bindparam("of_environment"),
        )
    )
    connection.execute(statement, [dict(zip(names, one, strict=True)) for one in changed])


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _key(value: Any) -> int:
    text = json.dumps(value, sort_keys=True)
    return int.from_bytes(sha256(text.encode()).digest()[:8]) >> 1


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _make_averages() -> None:
    op.create_table(
        "averages",
        Column("metric", sa.Text, primary_key=True),
        Column("attempt", sa.Integer, sa.ForeignKey("runs.attempt"), primary_key=True),
        Column("micro", sa.Double, nullable=False),
        Column("macro", sa.Double, nullable=False),
        sqlite_with_rowid=False,
    )
    op.execute(
        "INSERT INTO averages (attempt, metric, micro, macro) "
        "SELECT attempt, metric, SUM(value * n) / SUM(n), AVG(value) FROM scores "
        "WHERE headline AND benchmark <> 'all' AND n > 0 GROUP BY attempt, metric"
    )
    columns = ["metric", "benchmark", "headline", "attempt", "value"]
    op.create_index("scores_by_metric", "scores", columns)


def _make_remarks() -> None:
    op.create_table(
        "tags",
        Column("run_id", sa.String(16), primary_key=True),
        Column("tag", sa.Text, primary_key=True),
    )
    op.create_index("tags_by_tag", "tags", ["tag", "run_id"])
    op.create_table(
        "notes",
        Column("run_id", sa.String(16), primary_key=True),
        Column("written", sa.DateTime, primary_key=True),
        Column("text", sa.Text, nullable=False),
    )


OF_RUN = """r.run_id, r.status, r.started, r."group" AS group_name, r.method, r.backbone, r.seed,
    r.fold, r.protocol, r.setting, r.recipe, r.series, r.environment_id"""

V_RUNS = f"""CREATE VIEW v_runs AS SELECT r.attempt, {OF_RUN}, r.wall_seconds, r.validation_loss,
    r.trainable_parameters, r.total_parameters, r.adapter_bytes, r.peak_memory_bytes,
    r.train_tokens_per_second, r.trained_rows, r.folder, r.forgotten,
    d.reason, d.seconds, d.spec, d.environment
    FROM runs r LEFT JOIN documents d ON d.attempt = r.attempt"""

V_SCORES = f"""CREATE VIEW v_scores AS SELECT s.attempt, {OF_RUN}, s.benchmark, s.metric,
    s.extractor, s.extractor_version, s.headline, s.value, s.n, s.unparsed
    FROM scores s JOIN runs r ON r.attempt = s.attempt WHERE r.forgotten = ''"""
