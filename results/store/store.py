"""The store of all runs: plain frozen values in and out, rows stay inside.

It is an index: `harness reindex` rebuilds it from the run folders.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, fields
from math import isnan
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy import ColumnElement, Connection, Row, Select

from results.errors import ResultsError
from results.record import Kind, Run, Score, Status, Verdicts
from results.store import database, ids, kinds, schema, verdicts, version


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
        forgotten: bool = False,
    ) -> list[Run]:
        """List every attempt that passes all filters, newest first; an empty filter passes all.

        Forgotten ones are listed instead of the others where `forgotten` asks for them.
        """
        conditions = [*kinds.are(groups, methods, backbones), *_ended(status, forgotten)]
        if prefix:
            conditions += ids.starts_with(prefix.lower())
        with self._database.transaction() as connection:
            return _runs(connection, conditions)

    def page(self, first: int, most: int, status: Status | None = None) -> list[Run]:
        """List up to `most` attempts after the newest `first`, of those that ended as `status`."""
        with self._database.transaction() as connection:
            return _runs(connection, _ended(status), first, most)

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
        """Find the newest attempt at the one run whose id starts with `prefix`."""
        with self._database.transaction() as connection:
            found = ids.starting(connection, prefix.lower())
            if not found:
                raise ResultsError(self._no_run(connection, prefix))
            if len(found) > 1:
                listed = _listed(found, len(found))
                raise ResultsError(
                    f"{len(found)} runs start with {prefix!r}: {listed}\n  Please give more digits."
                )
            return _runs(connection, [schema.runs.c.run_id == found[0]])[0]

    def folders(self, runs: Collection[str]) -> dict[str, str]:
        """Say where the run folders of runs are, by their ids; of attempts, the newest counts."""
        of = schema.runs.c
        asked = sa.select(of.run_id, of.folder).where(of.run_id.in_(runs)).order_by(of.started)
        with self._database.transaction() as connection:
            return {row.run_id: row.folder for row in connection.execute(asked)}

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

    def finished_ids(self) -> set[str]:
        """List the ids of the runs that finished."""
        return self._ids("finished")

    def diverged_ids(self) -> set[str]:
        """List the ids of the runs that diverged: like the finished, they are not run again."""
        return self._ids("diverged")

    def forgotten_ids(self) -> set[str]:
        """List the ids of the runs of which the user left attempts out of all tables."""
        return self._ids(None, forgotten=True)

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


class Store(Reader):
    """A store that runs are added to; it is made, or brought to the newest schema, if needed."""

    def __init__(self, place: str | Path) -> None:
        from results.store import migrate  # noqa: PLC0415 (Alembic is slow, reading needs none)

        self._database = database.to_write(place)
        with self._database.transaction() as connection:
            migrate.upgrade(connection, self._database.name)

    def add(self, run: Run, judged: Collection[Verdicts] = ()) -> None:
        """Add one attempt, with its scores, unless it is there already.

        The verdicts are added in either case, if there are any, and so is what a store of an older
        schema could not keep.
        """
        with self._database.transaction() as connection:
            attempt = connection.scalar(_attempt(run))
            if attempt is None:
                attempt = _add(connection, run)
            else:
                _complete(connection, attempt, run)
            if judged:
                verdicts.replace(connection, attempt, judged)
            kinds.touch(connection, attempt)

    def replace_scores(self, run: Run, judged: Collection[Verdicts] = ()) -> None:
        """Give the stored attempt of `run` its scores, its flags and these verdicts.

        Raises `ResultsError` if that attempt, known by run id and start, is not stored.
        """
        runs, scores = schema.runs, schema.scores
        with self._database.transaction() as connection:
            attempt = connection.scalar(_attempt(run))
            if attempt is None:
                raise ResultsError(self._no_attempt(run))
            this = runs.c.attempt == attempt
            connection.execute(sa.update(runs).where(this).values(flags=run.flags))
            connection.execute(sa.delete(scores).where(scores.c.attempt == attempt))
            _add_scores(connection, attempt, run.scores)
            verdicts.replace(connection, attempt, judged)
            kinds.touch(connection, attempt)

    def forget(self, run_id: str, reason: str) -> int:
        """Leave all stored attempts at a run out of tables, and keep why; say how many."""
        runs = schema.runs
        of = runs.c.run_id == run_id
        with self._database.transaction() as connection:
            connection.execute(sa.update(runs).where(of).values(forgotten=reason))
            found = list(connection.scalars(sa.select(runs.c.attempt).where(of)))
            for attempt in found:
                kinds.touch(connection, attempt)
        return len(found)

    def _no_attempt(self, run: Run) -> str:
        return (
            f"The attempt at run {run.run_id} of {run.started:%Y-%m-%d %H:%M:%S} is not in "
            f"{self._database.name}, so its scores cannot be replaced.\n"
            "  `harness reindex` adds what the run folders hold."
        )


def _attempt(run: Run) -> Select[int]:
    columns = schema.runs.c
    return sa.select(columns.attempt).where(
        columns.run_id == run.run_id, columns.started == run.started
    )


def _add(connection: Connection, run: Run) -> int:
    values = asdict(run)
    del values["scores"]
    values["kind"] = kinds.keep(connection, run.kind)
    inserted = sa.insert(schema.runs).returning(schema.runs.c.attempt)
    attempt: int = connection.execute(inserted, values).scalar_one()
    _add_scores(connection, attempt, run.scores)
    return attempt


def _complete(connection: Connection, attempt: int, run: Run) -> None:
    facts: dict[str, object] = {"folds": run.folds, "trained_rows": run.trained_rows}
    known = {name: fact for name, fact in facts.items() if fact is not None}
    if run.forgotten:
        known["forgotten"] = run.forgotten
    if known:
        this = schema.runs.c.attempt == attempt
        connection.execute(sa.update(schema.runs).where(this).values(known))


def _add_scores(connection: Connection, attempt: int, scores: Sequence[Score]) -> None:
    rows = [
        {"attempt": attempt, "position": position} | asdict(score)
        for position, score in enumerate(scores)
        if not isnan(score.value)  # SQLite has no NaN
    ]
    if rows:
        connection.execute(sa.insert(schema.scores), rows)


def _ended(status: Status | None, forgotten: bool = False) -> list[ColumnElement[bool]]:
    """Ask for attempts that ended so, and count or are forgotten."""
    of = schema.runs.c
    counts = of.forgotten != "" if forgotten else of.forgotten == ""
    return [counts, of.status == status] if status else [counts]


def _runs(
    connection: Connection,
    conditions: Sequence[ColumnElement[bool]],
    first: int | None = None,
    most: int | None = None,
) -> list[Run]:
    runs = schema.runs.c
    wanted = sa.select(schema.runs).where(*conditions).offset(first).limit(most)
    newest_first = wanted.order_by(runs.started.desc(), runs.attempt.desc())
    scores = _scores(connection, newest_first.with_only_columns(runs.attempt))
    return [_run(row, scores[row.attempt]) for row in connection.execute(newest_first).all()]


def _scores(connection: Connection, attempts: Select[int]) -> dict[int, list[Score]]:
    columns = schema.scores.c
    of_score = [columns[field.name] for field in fields(Score)]
    wanted = sa.select(columns.attempt, *of_score).where(columns.attempt.in_(attempts))
    found: dict[int, list[Score]] = defaultdict(list)
    for attempt, *values in connection.execute(wanted.order_by(columns.position)).all():
        found[attempt].append(Score(*values))
    return found


def _run(row: Row[tuple[object, ...]], scores: list[Score]) -> Run:
    values = row._asdict()
    del values["attempt"], values["kind"]
    texts = {name: tuple(values[name]) for name in ("marks", "flags", "nondeterministic_kernels")}
    return Run(**(values | texts | {"scores": tuple(scores)}))


def _listed(first: list[str], count: int) -> str:
    shown = first[: ids.SHOWN]
    rest = f" and {count - len(shown)} more" if count > len(shown) else ""
    return ", ".join(shown) + rest
