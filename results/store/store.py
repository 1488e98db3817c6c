"""The store of all runs: plain frozen values in and out, rows stay inside.

It is an index: `harness reindex` rebuilds it from the run folders.
"""

from collections.abc import Callable, Collection
from dataclasses import replace
from math import isnan
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import Connection

from results.errors import ResultsError
from results.record import Run, Verdicts
from results.store import (
    database,
    kinds,
    last_seen,
    places,
    remarks,
    rows,
    schema,
    verdicts,
)
from results.store.last_seen import LastSeen
from results.store.reader import Reader
from results.store.remarks import Remarks


class Store(Reader):
    """A store that runs are added to; it is made, or brought to the newest schema, if needed."""

    def __init__(self, place: str | Path) -> None:
        from results.store import migrate  # noqa: PLC0415 (Alembic is slow, reading needs none)

        self._database = database.to_write(place)
        with self._database.transaction() as connection:
            migrate.upgrade(connection, self._database.name)
        self._database.settle()

    def add(self, run: Run, judged: Collection[Verdicts] = ()) -> None:
        """Add one attempt, with its scores, unless it is there already.

        The verdicts are added in either case, if there are any, and so are the marks of now, and
        what a store of an older schema could not keep.
        """
        with self._database.transaction() as connection:
            attempt = connection.scalar(rows.of(run))
            if attempt is None:
                attempt = rows.add(connection, self._placed(run))
            else:
                rows.complete(connection, attempt, run)
            remarks.keep(connection, run)
            if judged:
                verdicts.replace(connection, attempt, judged)
            kinds.touch(connection, attempt)

    def put(self, run: Run, judged: Collection[Verdicts] = ()) -> bool:
        """Store an attempt as it is given, in place of what is stored of it.

        What users said of the run, to the store alone, stays.

        Returns:
            Whether that changed anything.
        """
        with self._database.transaction() as connection:
            attempt = connection.scalar(rows.of(run))
            if attempt is None:
                attempt = rows.add(connection, self._placed(run))
            else:
                (stored,) = self._read(connection, rows.of(run))
                told = remarks.joined(stored, run)
                if (
                    _same(stored, told)
                    and rows.is_found(connection, attempt, told)
                    and _same_verdicts(connection, run, judged)
                ):
                    return False
                rows.replace(connection, attempt, self._placed(told))
            remarks.keep(connection, run)
            verdicts.replace(connection, attempt, judged)
            kinds.touch(connection, attempt)
        return True

    def _placed(self, run: Run) -> Run:
        return replace(run, folder=places.kept(run.folder, self._database.beside))

    def replace_scores(self, run: Run, judged: Collection[Verdicts] = ()) -> None:
        """Give the stored attempt of `run` its scores, its flags and these verdicts.

        Raises `ResultsError` if that attempt, known by run id and start, is not stored.
        """
        documents, scores = schema.documents, schema.scores
        with self._database.transaction() as connection:
            attempt = connection.scalar(rows.of(run))
            if attempt is None:
                raise ResultsError(self._no_attempt(run))
            this = documents.c.attempt == attempt
            connection.execute(sa.update(documents).where(this).values(flags=run.flags))
            connection.execute(sa.delete(scores).where(scores.c.attempt == attempt))
            rows.add_scores(connection, {attempt: run.scores})
            verdicts.replace(connection, attempt, judged)
            kinds.touch(connection, attempt)

    def remark(self, run_id: str, change: Callable[[Remarks], Remarks]) -> Remarks:
        """Change what is written on a run; no other writer comes between reading and writing."""
        with self._database.transaction() as connection:
            said = change(remarks.read(connection, [run_id])[run_id])
            remarks.replace(connection, run_id, said)
            _touch(connection, run_id)
        return said

    def keep_remarks(self, run: Run) -> None:
        """Add the tags and notes of a run, and why this attempt is forgotten, to what is stored."""
        with self._database.transaction() as connection:
            said = remarks.keep(connection, run)
            if rows.forget(connection, run) or said:
                _touch(connection, run.run_id)

    def forget(self, run_id: str, reason: str) -> int:
        """Leave all stored attempts at a run out of tables, and keep why; say how many."""
        runs = schema.runs
        with self._database.transaction() as connection:
            of = runs.c.run_id == run_id
            connection.execute(sa.update(runs).where(of).values(forgotten=reason))
            return _touch(connection, run_id)

    def saw(self, seen: LastSeen) -> None:
        """Keep what a command at work sees of its run folders, in the place of what it saw."""
        with self._database.transaction() as connection:
            last_seen.put(connection, seen)

    def _no_attempt(self, run: Run) -> str:
        return (
            f"The attempt at run {run.run_id} of {run.started:%Y-%m-%d %H:%M:%S} is not in "
            f"{self._database.name}, so its scores cannot be replaced.\n"
            "  `harness reindex` adds what the run folders hold."
        )


def _touch(connection: Connection, run_id: str) -> int:
    """Note that all attempts at a run were written; say how many."""
    runs = schema.runs.c
    found = list(connection.scalars(sa.select(runs.attempt).where(runs.run_id == run_id)))
    for attempt in found:
        kinds.touch(connection, attempt)
    return len(found)


def _same(stored: Run, given: Run) -> bool:
    """Tell whether an attempt is stored as it is given, but for what a store cannot keep."""
    kept = tuple(score for score in given.scores if not isnan(score.value))
    return stored == replace(given, scores=kept)


def _same_verdicts(connection: Connection, run: Run, judged: Collection[Verdicts]) -> bool:
    known = verdicts.read(connection, [run]).get(run.run_id, {})
    # Clusters are those of all runs of the same rows.
    return [replace(one, clusters=None) for one in known.values()] == [
        replace(one, clusters=None) for one in sorted(judged, key=lambda one: one.benchmark)
    ]
