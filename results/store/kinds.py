"""Kinds of runs in the store: what the names of a user select by, without reading the runs."""

import json
from collections.abc import Collection
from dataclasses import asdict
from hashlib import sha256

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, Row

from results.record import Kind
from results.store import schema


def keep(connection: Connection, kind: Kind) -> str:
    """Add a kind unless it is there already; return its key."""
    table, fields = schema.kinds, asdict(kind)
    key = sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()[:16]
    if connection.scalar(sa.select(table.c.kind).where(table.c.kind == key)) is None:
        connection.execute(sa.insert(table), fields | {"kind": key})
    return key


def read(connection: Connection) -> list[Kind]:
    """List the kinds of all runs, that of the newest run first."""
    runs, kinds = schema.runs.c, schema.kinds
    newest = sa.select(runs.kind, sa.func.max(runs.started).label("newest")).group_by(runs.kind)
    dated = newest.subquery()
    joined = sa.select(kinds).join(dated, dated.c.kind == kinds.c.kind)
    return [_kind(row) for row in connection.execute(joined.order_by(dated.c.newest.desc()))]


def are(
    groups: Collection[str], methods: Collection[str], backbones: Collection[str]
) -> list[ColumnElement[bool]]:
    """Require the kinds of runs to pass all filters; an empty filter passes all."""
    columns = schema.kinds.c
    chosen = {columns.group: groups, columns.method: methods, columns.backbone: backbones}
    conditions = [column.in_(names) for column, names in chosen.items() if names]
    if not conditions:
        return []
    return [schema.runs.c.kind.in_(sa.select(columns.kind).where(*conditions))]


def _kind(row: Row[tuple[object, ...]]) -> Kind:
    fields = row._asdict()
    del fields["kind"]
    tuples = {name: tuple(fields[name]) for name in ("backbone_identity", "benchmarks")}
    return Kind(**(fields | tuples))
