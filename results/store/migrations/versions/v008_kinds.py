"""Keep what names select runs by in a table of its own, and index what commands ask for."""

import json
from hashlib import sha256
from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy import Column, Connection

revision = "008"
down_revision = "007"

RUNS = sa.table(
    "runs",
    *(sa.column(name) for name in ("attempt", "group", "method", "backbone", "backbone_place")),
    sa.column("spec", sa.JSON),
    sa.column("kind"),
)
SCORES = sa.table("scores", *map(sa.column, ("attempt", "position", "benchmark")))


def upgrade() -> None:
    """Make the table and the indexes, and find the kind of each run that is there already."""
    kinds = op.create_table(
        "kinds",
        Column("kind", sa.String(16), primary_key=True),
        Column("group", sa.Text, nullable=False),
        Column("method", sa.Text, nullable=False),
        Column("backbone", sa.Text, nullable=False),
        Column("backbone_place", sa.Text, nullable=False),
        Column("backbone_identity", sa.JSON, nullable=False),
        Column("benchmarks", sa.JSON, nullable=False),
    )
    op.add_column("runs", Column("kind", sa.String(16), nullable=False, server_default=""))
    found = _kinds(op.get_bind())
    if found:
        op.bulk_insert(kinds, [{"kind": name} | fields for name, fields in found.items()])
    op.create_index("runs_by_kind", "runs", ["kind", "started"])
    op.create_index("runs_by_status", "runs", ["status", "run_id"])
    op.create_index("runs_by_start", "runs", ["started", "attempt", "run_id"])


def _kinds(connection: Connection) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    columns = [column for column in RUNS.c if column.name != "kind"]
    for row in connection.execute(sa.select(*columns)).all():
        backbone = row.spec.get("backbone", {})
        fields = {
            "group": row.group,
            "method": row.method,
            "backbone": row.backbone,
            "backbone_place": row.backbone_place,
            "backbone_identity": [backbone.get("name", row.backbone), backbone.get("revision", "")],
            "benchmarks": list(row.spec.get("tests") or _scored(connection, row.attempt)),
        }
        kind = sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:16]
        found[kind] = fields
        this = sa.update(RUNS).where(RUNS.c.attempt == row.attempt)
        connection.execute(this.values(kind=kind))
    return found


def _scored(connection: Connection, attempt: int) -> dict[str, None]:
    wanted = sa.select(SCORES.c.benchmark).where(SCORES.c.attempt == attempt)
    names = connection.scalars(wanted.order_by(SCORES.c.position))
    return dict.fromkeys(name for name in names if name != "all")
