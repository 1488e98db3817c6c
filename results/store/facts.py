"""The fields of specs and environments, each value stored once, so that SQL finds runs by them."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, Select, Subquery

from results.fields import Condition, Field, Type, number, written
from results.store import schema
from results.store.comparing import holds


def keep(connection: Connection, values: Mapping[str, Any]) -> int:
    """Add a set of fields with their values unless it is there already; return its key."""
    key, rows = _rows(values)
    facts = schema.facts
    if (
        rows
        and connection.scalar(sa.select(facts.c.key).where(facts.c.key == key).limit(1)) is None
    ):
        _add(connection, rows)
        connection.execute(sa.insert(facts), [{"key": key, "field": field} for field in rows])
    return key


def drop(connection: Connection, values: Mapping[str, Any]) -> None:
    """Remove a set of fields with their values, which whoever has them adds again."""
    key, rows = _rows(values)
    facts, fields = schema.facts.c, schema.fields.c
    connection.execute(sa.delete(schema.facts).where(facts.key == key))
    connection.execute(sa.delete(schema.fields).where(fields.field.in_(rows)))


def is_right(connection: Connection, key: int, values: Mapping[str, Any]) -> bool:
    """Tell whether a set of fields with their values is what is stored under a key."""
    of = schema.fields.c
    joined = schema.facts.join(schema.fields, schema.facts.c.field == of.field)
    asked = sa.select(of.name, of.value, of.number).select_from(joined)
    stored = {tuple(row) for row in connection.execute(asked.where(schema.facts.c.key == key))}
    return stored == {(name, written(value), number(value)) for name, value in values.items()}


def _rows(values: Mapping[str, Any]) -> tuple[int, dict[int, tuple[str, Any]]]:
    """Give the key of a set, and its fields by their keys."""
    rows = {_key([name, value]): (name, value) for name, value in values.items()}
    return _key(sorted(rows)), rows


def _add(connection: Connection, rows: Mapping[int, tuple[str, Any]]) -> None:
    table = schema.fields
    known = set(connection.scalars(sa.select(table.c.field).where(table.c.field.in_(rows))))
    added = [
        {"field": field, "name": name, "value": written(value), "number": number(value)}
        for field, (name, value) in rows.items()
        if field not in known
    ]
    if added:
        connection.execute(sa.insert(table), added)


def _key(value: Any) -> int:
    """Hash a JSON value to 63 bits, which fit a signed integer of any database."""
    text = json.dumps(value, sort_keys=True)
    return int.from_bytes(sha256(text.encode()).digest()[:8]) >> 1


def types(connection: Connection) -> dict[str, Type]:
    """Give the names of all fields, in order, and whether all their values are numbers."""
    of = schema.fields.c
    texts = sa.func.sum(sa.case((of.number.is_(None) & (of.value != "null"), 1), else_=0))
    numbers = sa.func.count(of.number)
    asked = sa.select(of.name, texts, numbers).group_by(of.name).order_by(of.name)
    return {
        name: "number" if not text and some else "text"
        for name, text, some in connection.execute(asked)
    }


def meeting(condition: Condition) -> Select[tuple[int]]:
    """Select the keys of the sets in which a field meets a condition."""
    of = schema.fields.c
    column = of.number if isinstance(condition.value, float) else of.value
    found = sa.select(of.field).where(of.name == condition.field.name, holds(column, condition))
    return sa.select(schema.facts.c.key).where(schema.facts.c.field.in_(found))


def values(field: Field) -> Subquery:
    """Select the value of a field by the key of its set."""
    of = schema.fields.c
    value: ColumnElement[Any] = of.number if field.type == "number" else of.value
    joined = schema.facts.join(schema.fields, schema.facts.c.field == of.field)
    found = sa.select(schema.facts.c.key, value.label("value")).select_from(joined)
    return found.where(of.name == field.name, value.is_not(None)).subquery()
