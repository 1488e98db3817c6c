"""Run ids by their first digits, answered from the index of the ids."""

from collections.abc import Iterator
from itertools import takewhile

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection

from results.store import schema

SHOWN = 20

AFTER = "g"
"""Greater than every digit of an id."""


def starting(connection: Connection, prefix: str) -> list[str]:
    """List the ids that start with `prefix`, that of the newest attempt first."""
    columns = schema.runs.c
    wanted = sa.select(columns.run_id).where(*starts_with(prefix)).group_by(columns.run_id)
    return list(connection.scalars(wanted.order_by(sa.func.max(columns.started).desc())))


def starts_with(prefix: str) -> list[ColumnElement[bool]]:
    """Require the id of a run to start with `prefix`."""
    # The range is found in the index; the pattern alone would be tried on every id.
    run_id = schema.runs.c.run_id
    return [
        run_id >= prefix,
        run_id < prefix + AFTER,
        run_id.startswith(prefix, autoescape=True),
    ]


def nearest(connection: Connection, unknown: str) -> list[str]:
    """List the ids that have the most first digits in common with `unknown`, if any has one.

    They are neighbours of `unknown` in the order of the ids.
    """
    shared = max((_shared(unknown, one) for one in _neighbours(connection, unknown)), key=len)
    return starting(connection, shared) if shared else []


def _neighbours(connection: Connection, unknown: str) -> Iterator[str]:
    run_id = schema.runs.c.run_id
    after = sa.select(sa.func.min(run_id)).where(run_id > unknown)
    before = sa.select(sa.func.max(run_id)).where(run_id < unknown)
    return (connection.scalar(one) or "" for one in (after, before))


def _shared(first: str, second: str) -> str:
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    return "".join(a for a, _ in pairs)


def newest(connection: Connection) -> list[str]:
    """List the ids of the newest attempts, as many as are shown."""
    columns = schema.runs.c
    wanted = sa.select(columns.run_id).order_by(columns.started.desc(), columns.attempt.desc())
    # An id may have several attempts.
    return list(dict.fromkeys(connection.scalars(wanted.limit(SHOWN))))


def count(connection: Connection) -> int:
    """Count the ids."""
    return connection.scalar(sa.select(sa.func.count(schema.runs.c.run_id.distinct()))) or 0
