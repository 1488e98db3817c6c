"""Verdicts in the store: a row per attempt and benchmark, and the clusters of rows once for all."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import asdict

import sqlalchemy as sa
from sqlalchemy import Connection, Row, Select

from results.record import Run, Verdicts
from results.store import kinds, schema
from results.store.rows import AT_ONCE

ByRun = dict[str, dict[str, Verdicts]]
"""By run id and benchmark."""


def replace(connection: Connection, attempt: int, verdicts: Collection[Verdicts]) -> None:
    """Give a stored attempt these verdicts instead of its own."""
    table = schema.verdicts
    connection.execute(sa.delete(table).where(table.c.attempt == attempt))
    for one in verdicts:
        fields = asdict(one)
        clusters = fields.pop("clusters")
        connection.execute(sa.insert(table), fields | {"attempt": attempt})
        if clusters is not None:
            _keep_clusters(connection, one.rows, clusters)


def _keep_clusters(connection: Connection, rows: str, clusters: Collection[int]) -> None:
    table = schema.clusters
    if connection.scalar(sa.select(table.c.rows).where(table.c.rows == rows)) is None:
        connection.execute(sa.insert(table), {"rows": rows, "clusters": clusters})
        kinds.touch(connection)  # runs of other kinds may have the same rows


def read(connection: Connection, runs: Iterable[Run]) -> ByRun:
    """Read the verdicts of attempts, of which no two are at the same run."""
    started = {run.run_id: run.started for run in runs}
    ids = sorted(started)
    found: ByRun = defaultdict(dict)
    for start in range(0, len(ids), AT_ONCE):
        for row in connection.execute(_of(ids[start : start + AT_ONCE])):
            if row.started == started[row.run_id]:
                found[row.run_id][row.benchmark] = _verdicts(row)
    return dict(found)


def _of(ids: Collection[str]) -> Select[tuple[object, ...]]:
    runs, verdicts, clusters = schema.runs, schema.verdicts, schema.clusters
    joined = runs.join(verdicts).outerjoin(clusters, clusters.c.rows == verdicts.c.rows)
    wanted = sa.select(runs.c.run_id, runs.c.started, verdicts, clusters.c.clusters)
    return wanted.select_from(joined).where(runs.c.run_id.in_(ids))


def _verdicts(row: Row[tuple[object, ...]]) -> Verdicts:
    clusters = None if row.clusters is None else tuple(row.clusters)
    return Verdicts(row.benchmark, row.rows, row.n, row.right, clusters)
