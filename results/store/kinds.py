"""Kinds of runs in the store: what the names of a user select by, without reading the runs."""

import json
import time
from collections.abc import Collection
from dataclasses import fields
from hashlib import sha256
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, Row, Select

from results.record import Kind
from results.store import schema


def keep(connection: Connection, kind: Kind) -> str:
    """Add a kind unless it is there already; return its key."""
    table, name = schema.kinds, key(kind)
    if connection.scalar(sa.select(table.c.kind).where(table.c.kind == name)) is None:
        connection.execute(sa.insert(table), vars(kind) | {"kind": name, "changed": 0})
    return name


def correct(connection: Connection, kind: Kind) -> None:
    """Write a kind again if it is there."""
    table = schema.kinds
    connection.execute(sa.update(table).where(table.c.kind == key(kind)).values(vars(kind)))


def is_right(connection: Connection, name: str, kind: Kind) -> bool:
    """Tell whether a kind is what is stored under a key."""
    table = schema.kinds
    row = connection.execute(sa.select(table).where(table.c.kind == name)).first()
    return row is not None and _kind(row) == kind


def key(kind: Kind) -> str:
    """Hash a kind."""
    return sha256(json.dumps(vars(kind), sort_keys=True).encode()).hexdigest()[:16]


def touch(connection: Connection, attempt: int | None = None) -> None:
    """Note that an attempt was written; without one, that any may read differently."""
    kinds, runs = schema.kinds, schema.runs
    of_attempt = sa.select(runs.c.kind).where(runs.c.attempt == attempt)
    written = [] if attempt is None else [kinds.c.kind.in_(of_attempt)]
    # A clock may be set back, but a change is never as old as one before.
    now = max(time.time_ns() // 1000, changed(connection, []) + 1)
    connection.execute(sa.update(kinds).where(*written).values(changed=now))


def changed(connection: Connection, conditions: Collection[ColumnElement[bool]]) -> int:
    """Tell when a run of the kinds that meet all conditions was last written."""
    newest = sa.select(sa.func.max(schema.kinds.c.changed)).where(*conditions)
    return connection.scalar(newest) or 0


def read(connection: Connection) -> list[Kind]:
    """List the kinds of all runs, that of the newest run first."""
    runs, of = schema.runs.c, schema.kinds.c
    # A look into the index for each kind: grouping would read all of it.
    newest = sa.select(sa.func.max(runs.started)).where(runs.kind == of.kind)
    columns = [*(of[field.name] for field in fields(Kind)), newest.label("newest")]
    asked: Select[Any] = sa.select(*columns)
    found = connection.execute(asked.order_by(sa.desc("newest")))
    return [_kind(row) for row in found if row.newest]


def are(
    groups: Collection[str], methods: Collection[str], backbones: Collection[str]
) -> list[ColumnElement[bool]]:
    """Require the kinds of runs to pass all filters; an empty filter passes all."""
    conditions = passing(groups, methods, backbones)
    if not conditions:
        return []
    return [schema.runs.c.kind.in_(sa.select(schema.kinds.c.kind).where(*conditions))]


def passing(
    groups: Collection[str], methods: Collection[str], backbones: Collection[str]
) -> list[ColumnElement[bool]]:
    """Require kinds to pass all filters; an empty filter passes all."""
    columns = schema.kinds.c
    chosen = {columns.group: groups, columns.method: methods, columns.backbone: backbones}
    return [column.in_(names) for column, names in chosen.items() if names]


def _kind(row: Row[tuple[object, ...]]) -> Kind:
    stored = row._asdict()
    tuples = {name: tuple(stored[name]) for name in ("backbone_identity", "benchmarks")}
    return Kind(**({field.name: stored[field.name] for field in fields(Kind)} | tuples))
