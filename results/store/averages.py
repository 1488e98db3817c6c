"""Averages over the benchmarks of an attempt in the store, by which runs are sorted."""

from collections.abc import Collection

import sqlalchemy as sa
from sqlalchemy import Connection

from results.record import POOLED
from results.store import schema


def replace(connection: Connection, attempts: Collection[int]) -> None:
    """Give stored attempts the averages of their headline scores."""
    table, of = schema.averages, schema.scores.c
    connection.execute(sa.delete(table).where(table.c.attempt.in_(attempts)))
    micro = sa.func.sum(of.value * of.n) / sa.func.sum(of.n)
    asked = sa.select(of.attempt, of.metric, micro, sa.func.avg(of.value))
    counted = asked.where(of.attempt.in_(attempts), of.headline, of.benchmark != POOLED, of.n > 0)
    # Of scores that are infinite both ways there is none, which SQLite writes as nothing.
    counted = counted.group_by(of.attempt, of.metric).having(micro.is_not(None))
    columns = ["attempt", "metric", "micro", "macro"]
    connection.execute(sa.insert(table).from_select(columns, counted))
