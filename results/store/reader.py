"""Reading the store: which runs there are, and what is stored of them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, Select

from results.errors import ResultsError
from results.fields import Field, Type
from results.record import Kind, Run, Status, Verdicts
from results.store import (
    database,
    facts,
    ids,
    kinds,
    last_seen,
    places,
    query,
    rows,
    schema,
    verdicts,
    version,
)
from results.store.last_seen import LastSeen


class Reader:
    """A store that is only read: it must exist, and nothing in it changes."""

    def __init__(self, place: str | Path) -> None:
        self._database = database.to_read(place)
        with self._database.transaction() as connection:
            version.check(connection, self._database.name)

    def runs(
        self,
        *,
        groups: Collection[str] = (),
        methods: Collection[str] = (),
        backbones: Collection[str] = (),
        status: Status | None = None,
        prefix: str = "",
        forgotten: bool | None = False,
    ) -> list[Run]:
        """List every attempt that passes all filters, newest first; an empty filter passes all.

        Forgotten ones are listed instead of the others where `forgotten` asks for them, and beside
        them where it is None.
        """
        conditions = [*kinds.are(groups, methods, backbones), *_ended(status, forgotten)]
        if prefix:
            conditions += ids.starts_with(prefix.lower())
        with self._database.transaction() as connection:
            return self._read(connection, _newest_first(conditions))

    def page(
        self,
        first: int,
        most: int,
        status: Status | None = None,
        *,
        forgotten: bool | None = False,
    ) -> list[Run]:
        """List up to `most` attempts after the newest `first`, of those that `runs` would list."""
        conditions = _ended(status, forgotten)
        with self._database.transaction() as connection:
            return self._read(connection, _newest_first(conditions, first, most))

    def select(self, asked: query.Query, most: int) -> tuple[list[Run], int]:
        """List up to `most` of the attempts that a query asks for, in order, and count all."""
        wanted = query.attempts(asked)
        with self._database.transaction() as connection:
            runs = self._read(connection, wanted.limit(most))
            return runs, _count(connection, wanted, len(runs), most)

    def groups(
        self, asked: query.Query, by: Sequence[Field], most: int
    ) -> tuple[list[query.Group], int]:
        """Group the attempts that a query asks for by fields; list up to `most`, count all."""
        wanted = query.groups(asked, by)
        with self._database.transaction() as connection:
            found = connection.execute(wanted.limit(most)).all()
            groups = [query.Group(tuple(row[: len(by)]), *row[len(by) :]) for row in found]
            return groups, _count(connection, wanted, len(groups), most)

    def fields(self) -> dict[str, Type]:
        """Give the fields of all specs and environments by name."""
        with self._database.transaction() as connection:
            return facts.types(connection)

    def has_score(self, field: Field) -> bool:
        """Say whether any attempt has a headline score, or an average of these."""
        with self._database.transaction() as connection:
            return connection.execute(query.has_score(field)).first() is not None

    def values(self, name: str) -> list[str]:
        """List the different values of a text of runs, or of their tags."""
        with self._database.transaction() as connection:
            return list(connection.scalars(query.values(name)))

    def counts(self) -> dict[Status, int]:
        """Count the attempts by how they ended."""
        status = schema.runs.c.status
        counted = sa.select(status, sa.func.count()).where(*_ended(None)).group_by(status)
        with self._database.transaction() as connection:
            return {row[0]: row[1] for row in connection.execute(counted)}

    def changed(
        self,
        *,
        groups: Collection[str] = (),
        methods: Collection[str] = (),
        backbones: Collection[str] = (),
    ) -> int:
        """Tell when an attempt that passes all filters was last added or given other scores.

        In microseconds since 1970, and another number after each change; 0 for what was written
        before that was kept. Whoever asks before reading may take what is read for good until the
        number changes.
        """
        with self._database.transaction() as connection:
            return kinds.changed(connection, kinds.passing(groups, methods, backbones))

    def run(self, prefix: str) -> Run:
        """Find the attempt that stands for the one run whose id starts with `prefix`.

        One that ended the run before one that failed, then the newest; a forgotten one last.
        """
        with self._database.transaction() as connection:
            found = ids.starting(connection, prefix.lower())
            if not found:
                raise ResultsError(self._no_run(connection, prefix))
            if len(found) > 1:
                listed = _listed(found, len(found))
                raise ResultsError(
                    f"{len(found)} runs start with {prefix!r}: {listed}\n  Please give more digits."
                )
            this = [schema.runs.c.run_id == found[0]]
            newest_first = self._read(connection, _newest_first(this))
        # Clocks may have been set back between two attempts; the end of a run is its last one.
        return min(newest_first, key=lambda run: (run.forgotten != "", run.status == "failed"))

    def folders(self, runs: Collection[str]) -> dict[str, str]:
        """Say where the run folders of runs are, by their ids; of attempts, the newest counts."""
        of = schema.runs.c
        asked = sa.select(of.run_id, of.folder).where(of.run_id.in_(runs)).order_by(of.started)
        with self._database.transaction() as connection:
            return {row.run_id: self._found(row.folder) for row in connection.execute(asked)}

    def has(self, run: Run) -> bool:
        """Say whether this attempt at a run is stored, or a later one."""
        columns = schema.runs.c
        later = sa.select(columns.attempt).where(
            columns.run_id == run.run_id, columns.started >= run.started
        )
        with self._database.transaction() as connection:
            return connection.scalar(later.limit(1)) is not None

    def kinds(self) -> list[Kind]:
        """List the kinds of all runs, that of the newest run first."""
        with self._database.transaction() as connection:
            return kinds.read(connection)

    def verdicts(self, runs: Iterable[Run]) -> dict[str, dict[str, Verdicts]]:
        """Give the verdicts of attempts by run id and benchmark, in one query.

        A run without stored verdicts is left out: one that is not judged, or was stored before they
        were kept and is not yet indexed again.
        """
        with self._database.transaction() as connection:
            return verdicts.read(connection, runs)

    def last_seen(self) -> list[LastSeen]:
        """List what commands at work last saw of their run folders, the newest first."""
        with self._database.transaction() as connection:
            return last_seen.read(connection)

    def finished_ids(self) -> set[str]:
        """List the ids of the runs that finished."""
        return self._ids("finished")

    def diverged_ids(self) -> set[str]:
        """List the ids of the runs that diverged: like the finished, they are not run again."""
        return self._ids("diverged")

    def failed_ids(self) -> set[str]:
        """List the ids of the runs of which an attempt failed; another may have finished."""
        return self._ids("failed")

    def forgotten_ids(self) -> set[str]:
        """List the ids of the runs of which the user left attempts out of all tables."""
        return self._ids(None, forgotten=True)

    def _read(self, connection: Connection, attempts: Select[int]) -> list[Run]:
        found = rows.read(connection, attempts)
        return [replace(run, folder=self._found(run.folder)) for run in found]

    def _found(self, folder: str) -> str:
        return places.found(folder, self._database.beside)

    def _ids(self, status: Status | None, *, forgotten: bool = False) -> set[str]:
        wanted = sa.select(schema.runs.c.run_id).where(*_ended(status, forgotten))
        with self._database.transaction() as connection:
            return set(connection.scalars(wanted))

    def _no_run(self, connection: Connection, prefix: str) -> str:
        if nearest := ids.nearest(connection, prefix.lower()):
            told = f"Nearest: {_listed(nearest, len(nearest))}"
        else:
            newest = _listed(ids.newest(connection), ids.count(connection))
            told = f"Newest: {newest or 'none yet'}"
        return (
            f"No run in {self._database.name} starts with {prefix!r}.\n"
            f"  {told}\n"
            "  `harness history` lists them all."
        )


def _count(connection: Connection, wanted: Select[Any], found: int, most: int) -> int:
    """Count all rows, of which up to `most` are `found`."""
    if 0 < found < most:
        return found
    all_of_them = wanted.order_by(None).subquery()
    return connection.scalar(sa.select(sa.func.count()).select_from(all_of_them)) or 0


def _newest_first(
    conditions: Sequence[ColumnElement[bool]] = (),
    first: int | None = None,
    most: int | None = None,
) -> Select[int]:
    runs = schema.runs.c
    wanted = sa.select(runs.attempt).where(*conditions).offset(first).limit(most)
    return wanted.order_by(runs.started.desc(), runs.attempt.desc())


def _ended(status: Status | None, forgotten: bool | None = False) -> list[ColumnElement[bool]]:
    """Ask for attempts that ended so, and count or are forgotten; None asks for either."""
    of = schema.runs.c
    counts = of.forgotten != "" if forgotten else of.forgotten == ""
    return [
        *([] if forgotten is None else [counts]),
        *([of.status == status] if status else []),
    ]


def _listed(first: list[str], count: int) -> str:
    shown = first[: ids.SHOWN]
    rest = f" and {count - len(shown)} more" if count > len(shown) else ""
    return ", ".join(shown) + rest
