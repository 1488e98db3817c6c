"""Averages over the benchmarks of an attempt in the store, by which runs are sorted."""

from collections.abc import Collection
from itertools import chain
from math import isclose

import sqlalchemy as sa
from sqlalchemy import Connection, Select

from results.record import POOLED
from results.store import schema


def replace(connection: Connection, attempts: Collection[int]) -> None:
    """Give stored attempts the averages of their headline scores."""
    table = schema.averages
    connection.execute(sa.delete(table).where(table.c.attempt.in_(attempts)))
    columns = ["attempt", "metric", "micro", "macro"]
    connection.execute(sa.insert(table).from_select(columns, _counted(attempts)))


def are_right(connection: Connection, attempt: int) -> bool:
    """Tell whether the stored averages of an attempt are those of its scores."""
    of = schema.averages.c
    asked = sa.select(of.attempt, of.metric, of.micro, of.macro).where(of.attempt == attempt)
    stored, counted = (
        {metric: averages for _, metric, *averages in connection.execute(one)}
        for one in (asked, _counted([attempt]))
    )
    return stored.keys() == counted.keys() and all(
        map(isclose, chain(*stored.values()), chain(*(counted[metric] for metric in stored)))
    )


def _counted(attempts: Collection[int]) -> Select[tuple[int, str, float, float]]:
    of = schema.scores.c
    micro = sa.func.sum(of.value * of.n) / sa.func.sum(of.n)
    asked = sa.select(of.attempt, of.metric, micro, sa.func.avg(of.value))
    counted = asked.where(of.attempt.in_(attempts), of.headline, of.benchmark != POOLED, of.n > 0)
    # Of scores that are infinite both ways there is none, which SQLite writes as nothing.
    return counted.group_by(of.attempt, of.metric).having(micro.is_not(None))
