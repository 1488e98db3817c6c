"""Runs as rows of several tables, and back."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from math import isnan

import sqlalchemy as sa
from sqlalchemy import Connection, Row, Select

from results.fields import of_environment, of_spec
from results.record import Run, Score
from results.store import averages, facts, kinds, remarks, schema

AT_ONCE = 10_000
"""Runs in one query: databases take no more than some ten thousand values."""

TUPLES = ("marks", "flags", "nondeterministic_kernels")


def of(run: Run) -> Select[int]:
    """Select the stored attempt of a run, which is known by its id and its start."""
    columns = schema.runs.c
    return sa.select(columns.attempt).where(
        columns.run_id == run.run_id, columns.started == run.started
    )


def add(connection: Connection, run: Run) -> int:
    """Add an attempt with its scores; return its number."""
    keys = facts_of(connection, run)
    inserted = sa.insert(schema.runs).returning(schema.runs.c.attempt)
    attempt: int = connection.execute(inserted, columns(schema.runs, run, keys)).scalar_one()
    numbered = {"attempt": attempt}
    connection.execute(sa.insert(schema.documents), columns(schema.documents, run, numbered))
    add_scores(connection, {attempt: run.scores})
    return attempt


def replace(connection: Connection, attempt: int, run: Run) -> None:
    """Store an attempt in place of what is stored of it."""
    kinds.correct(connection, run.kind)
    facts.drop(connection, of_spec(run.spec))
    facts.drop(connection, of_environment(run.environment))
    keys = facts_of(connection, run)
    for table in (schema.runs, schema.documents):
        this = sa.update(table).where(table.c.attempt == attempt)
        connection.execute(this.values(columns(table, run, keys)))
    scores = schema.scores
    connection.execute(sa.delete(scores).where(scores.c.attempt == attempt))
    add_scores(connection, {attempt: run.scores})


def is_found(connection: Connection, attempt: int, run: Run) -> bool:
    """Tell whether a stored attempt is found by its kind, its fields and its averages."""
    runs = schema.runs.c
    keys = sa.select(runs.kind, runs.spec_facts, runs.environment_facts, runs.wall_seconds)
    kind, spec, environment, wall = connection.execute(keys.where(runs.attempt == attempt)).one()
    return (
        wall == run.seconds.get("wall")
        and kinds.is_right(connection, kind, run.kind)
        and facts.is_right(connection, spec, of_spec(run.spec))
        and facts.is_right(connection, environment, of_environment(run.environment))
        and averages.are_right(connection, attempt)
    )


def facts_of(connection: Connection, run: Run) -> dict[str, object]:
    """Keep what runs share; give the columns that point to it."""
    return {
        "kind": kinds.keep(connection, run.kind),
        "spec_facts": facts.keep(connection, of_spec(run.spec)),
        "environment_facts": facts.keep(connection, of_environment(run.environment)),
    }


def columns(table: sa.Table, run: Run, keys: Mapping[str, object]) -> dict[str, object]:
    """Give the row of a run in a table."""
    values = {**vars(run), "wall_seconds": run.seconds.get("wall"), **keys}
    return {name: value for name, value in values.items() if name in table.c}


def complete(connection: Connection, attempt: int, run: Run) -> None:
    """Add what a store of an older schema could not keep."""
    told: dict[str, object] = {"folds": run.folds, "trained_rows": run.trained_rows}
    known = {name: fact for name, fact in told.items() if fact is not None}
    if run.forgotten:
        known["forgotten"] = run.forgotten
    documents = schema.documents
    this_document = sa.update(documents).where(documents.c.attempt == attempt)
    connection.execute(this_document.values(marks=run.marks))
    if known:
        this = schema.runs.c.attempt == attempt
        connection.execute(sa.update(schema.runs).where(this).values(known))


def forget(connection: Connection, run: Run) -> bool:
    """Keep why an attempt is forgotten, if it is; say whether it counted until now."""
    runs = schema.runs
    counts = connection.scalar(of(run).where(runs.c.forgotten == ""))
    if counts is None or not run.forgotten:
        return False
    this = sa.update(runs).where(runs.c.attempt == counts)
    connection.execute(this.values(forgotten=run.forgotten))
    return True


def add_scores(connection: Connection, scores: Mapping[int, Sequence[Score]]) -> None:
    """Add the scores of attempts, and their averages."""
    found = [
        {"attempt": attempt, "position": position} | vars(score)
        for attempt, of_attempt in scores.items()
        for position, score in enumerate(of_attempt)
        if not isnan(score.value)  # SQLite has no NaN
    ]
    if found:
        connection.execute(sa.insert(schema.scores), found)
    averages.replace(connection, scores)


def read(connection: Connection, attempts: Select[int]) -> list[Run]:
    """Read the attempts that are selected, in their order."""
    asked = list(connection.scalars(attempts))
    parts = (asked[start : start + AT_ONCE] for start in range(0, len(asked), AT_ONCE))
    return [run for part in parts for run in _part(connection, part)]


def _part(connection: Connection, attempts: Sequence[int]) -> Iterator[Run]:
    joined = sa.select(schema.runs, schema.documents).join_from(schema.runs, schema.documents)
    found = connection.execute(joined.where(schema.runs.c.attempt.in_(attempts)))
    rows = {row.attempt: row for row in found}
    scores = _scores(connection, attempts)
    remarked = remarks.read(connection, {row.run_id for row in rows.values()})
    for attempt in attempts:
        row = rows[attempt]
        yield _run(row, scores[attempt], remarked[row.run_id])


def _scores(connection: Connection, attempts: Collection[int]) -> dict[int, list[Score]]:
    columns = schema.scores.c
    of_score = [columns[field.name] for field in fields(Score)]
    wanted = sa.select(columns.attempt, *of_score).where(columns.attempt.in_(attempts))
    found: dict[int, list[Score]] = defaultdict(list)
    for attempt, *values in connection.execute(wanted.order_by(columns.position)).all():
        found[attempt].append(Score(*values))
    return found


def _run(row: Row[tuple[object, ...]], scores: list[Score], remarked: remarks.Remarks) -> Run:
    stored = row._asdict()
    values = {field.name: stored[field.name] for field in fields(Run) if field.name in stored}
    texts = {name: tuple(stored[name]) for name in TUPLES}
    return Run(**(values | texts), scores=tuple(scores), tags=remarked.tags, notes=remarked.notes)
