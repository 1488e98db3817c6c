"""Which attempts are asked for, and that as SQL: what is not shown never leaves the database."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import ColumnElement, FromClause, Select, Subquery

from results.fields import ENVIRONMENT, MACRO, MICRO, OF_RUNS, TAG, Condition, Field
from results.record import Kind
from results.store import facts, kinds, schema
from results.store.comparing import holds

Values = Mapping[Field, ColumnElement[Any]]
"""The values of fields, by which attempts are selected, sorted and grouped."""

COLUMNS = {"run": "run_id", "environment": "environment_id"}
"""The columns of fields that have another name."""


@dataclass(frozen=True)
class Part:
    """Runs of some kinds that meet all conditions."""

    kinds: Collection[Kind]
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Query:
    """The attempts that meet all conditions; sorted by a field, only those that have it."""

    conditions: tuple[Condition, ...] = ()
    parts: tuple[Part, ...] | None = None
    """They are also in one of these; None for any."""
    sort: Field | None = None
    """The newest first without one."""
    descending: bool = False


@dataclass(frozen=True)
class Group:
    """Attempts that have the same values of some fields."""

    values: tuple[Any, ...]
    attempts: int
    finished: int
    diverged: int
    failed: int
    hours: float
    """Of wall-clock time, all attempts together."""
    newest: Any
    """When the newest began."""
    best: float | str | None
    """The first value of the field that groups are sorted by."""


def attempts(query: Query) -> Select[int]:
    """Select the attempts, in order."""
    runs = schema.runs.c
    source, values = _with(query)
    found = sa.select(runs.attempt).select_from(source).where(*_conditions(query, values))
    return found.order_by(*_first(query, values), runs.started.desc(), runs.attempt.desc())


def groups(query: Query, by: Sequence[Field]) -> Select[Any]:
    """Select one row for each group, as `Group` has it, in order."""
    runs = schema.runs.c
    source, values = _with(query, *by)
    shared = {f"value_{place}": values[field] for place, field in enumerate(by)}
    extreme = sa.func.max if query.descending else sa.func.min
    best = {query.sort: extreme(values[query.sort])} if query.sort else {}
    newest = sa.func.max(runs.started)
    asked = sa.select(
        *(value.label(name) for name, value in shared.items()),
        sa.func.count().label("attempts"),
        *(_count_of(status) for status in ("finished", "diverged", "failed")),
        (sa.func.coalesce(sa.func.sum(runs.wall_seconds), 0.0) / 3600).label("hours"),
        newest.label("newest"),
        *(one.label("best") for one in best.values() or [sa.null()]),
    )
    grouped = asked.select_from(source).where(*_conditions(query, values)).group_by(*shared)
    return grouped.order_by(*_first(query, best), newest.desc(), *shared)


def _first(query: Query, values: Values) -> list[ColumnElement[Any]]:
    if not query.sort:
        return []
    value = values[query.sort]
    return [value.desc() if query.descending else value.asc()]


def _count_of(status: str) -> ColumnElement[int]:
    this = sa.case((schema.runs.c.status == status, 1), else_=0)
    return sa.func.sum(this).label(status)


def _with(query: Query, *fields: Field) -> tuple[FromClause, Values]:
    """Join the runs with the values of fields and with those that the query needs; give both."""
    scored = [one.field for one in query.conditions if one.field.metric]
    wanted = dict.fromkeys([*fields, *filter(None, [query.sort]), *scored])
    source: FromClause = schema.runs
    values: dict[Field, ColumnElement[Any]] = {}
    for field in sorted(wanted, key=lambda field: field.metric != ""):
        source, values[field] = _joined(query, source, field, once=field not in fields)
    return source, values


def _joined(
    query: Query, source: FromClause, field: Field, *, once: bool
) -> tuple[FromClause, ColumnElement[Any]]:
    """Join runs with the values of a field; `once`: of several tags of a run only the first."""
    runs = schema.runs.c
    if field.metric:
        scores = _scores(field).subquery()
        of_run = scores.c.attempt == runs.attempt
        if query.parts is None and source is schema.runs:
            return source.join(scores, of_run), scores.c.value
        # A database may read all scores first, and for each look for its run among the kinds.
        return source, sa.select(scores.c.value).where(of_run).scalar_subquery()
    if field.name == TAG:
        tags = _first_tags() if once else schema.tags.alias()
        return source.join(tags, tags.c.run_id == runs.run_id), tags.c.tag
    if field.name in OF_RUNS:
        return source, _column(field)
    found = facts.values(field)
    return source.join(found, found.c.key == _key_of(query, field)), found.c.value


def _first_tags() -> Subquery:
    tags = schema.tags.c
    first = sa.func.min(tags.tag).label("tag")
    return sa.select(tags.run_id, first).group_by(tags.run_id).subquery()


def _conditions(query: Query, values: Values) -> Iterator[ColumnElement[bool]]:
    for one in query.conditions:
        yield holds(values[one.field], one) if one.field.metric else _met(query, one)
    met = {one.field for one in query.conditions}
    for field, value in values.items():
        if (field.metric or field == query.sort) and field not in met:
            yield value.is_not(None)
    if query.parts is not None:
        yield sa.or_(sa.false(), *(_in_part(query, part) for part in query.parts))


def _in_part(query: Query, part: Part) -> ColumnElement[bool]:
    keys = list(map(kinds.key, part.kinds))
    return sa.and_(schema.runs.c.kind.in_(keys), *(_met(query, one) for one in part.conditions))


def _met(query: Query, condition: Condition) -> ColumnElement[bool]:
    field, runs = condition.field, schema.runs.c
    if field.name == TAG:
        tags = schema.tags.c
        return runs.run_id.in_(sa.select(tags.run_id).where(holds(tags.tag, condition)))
    if field.name in OF_RUNS:
        return holds(_column(field), condition)
    return _key_of(query, field).in_(facts.meeting(condition))


def _scores(field: Field) -> Select[Any]:
    """Select a headline score, or an average, of each attempt that has it."""
    if field.benchmark in (MICRO, MACRO):
        averages = schema.averages.c
        value = averages[field.benchmark].label("value")
        return sa.select(averages.attempt, value).where(averages.metric == field.metric)
    scores = schema.scores.c
    return sa.select(scores.attempt, scores.value).where(
        scores.metric == field.metric, scores.benchmark == field.benchmark, scores.headline
    )


def _column(field: Field) -> ColumnElement[Any]:
    return schema.runs.c[COLUMNS.get(field.name, field.name)]


def _key_of(query: Query, field: Field) -> ColumnElement[Any]:
    runs = schema.runs.c
    key = runs.environment_facts if field.name.startswith(ENVIRONMENT) else runs.spec_facts
    # An expression has no index: that of the kinds leaves fewer runs.
    return key if query.parts is None else key + 0


def values(name: str) -> Select[Any]:
    """Select the different values of a text of runs, or of their tags."""
    column = schema.tags.c.tag if name == TAG else schema.runs.c[COLUMNS.get(name, name)]
    return sa.select(column).distinct().order_by(column)


def has_score(field: Field) -> Select[Any]:
    """Select something if any attempt has a score."""
    return _scores(field).limit(1)
