"""Which runs of a store are asked for: names, ranges and conditions, read and checked."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import cast

from harness.commands.bounds import compared
from harness.commands.stored import without_path
from harness.errors import UserError, unknown
from results.analysis.metrics import metric
from results.analysis.runs.selection import OWN, chosen, left_open, narrowed, split_names
from results.fields import MACRO, MICRO, OF_RUNS, TAG, Condition, Field, Operator, Type, written
from results.record import POOLED, Kind
from results.store import Reader
from results.store.query import Part, Query

CONDITION = re.compile(r"\s*(.+?)\s*(<=|>=|!=|=|<|>|~)\s*(.*?)\s*")
RANGE = re.compile(r"(.+):([^:]*)\.\.([^:]*)")
FORGOTTEN = "forgotten"
"""The field of runs that is asked for like a status."""

NEAR = 8
"""Fields that are told with one that is not known."""


@dataclass(frozen=True)
class Asked:
    """What a user typed; what is empty passes all."""

    tasks: str = ""
    method: str = ""
    backbone: str = ""
    status: str = ""
    protocol: str = ""
    environment: str = ""
    """The first digits of its id."""
    seeds: str = ""
    """Numbers with commas between them."""
    tags: Collection[str] = ()
    start: str = ""
    end: str = ""
    """A moment or a day, which counts whole."""
    metrics: Collection[str] = ()
    """Such as "accuracy:60..80"; each side may be open."""
    where: Collection[str] = ()
    """Such as "train.lr >= 1e-4"."""
    sort: str = ""
    """A field, with a minus before it for the largest first."""


class Fields:
    """The fields that the runs of a store have."""

    def __init__(self, store: Reader) -> None:
        self._store = store
        self._types: dict[str, Type] = {**OF_RUNS, TAG: "text", **store.fields()}

    def named(self, name: str) -> Field:
        """Find a field by its name, by the end of its path, or a score by benchmark and metric.

        Raises:
            UserError: There is none, or several.
        """
        if name in self._types:
            return Field(name, self._types[name])
        ends = [known for known in self._types if known.endswith(f".{name}")]
        if len(ends) == 1:
            return Field(ends[0], self._types[ends[0]])
        if ends:
            raise UserError(f"{name!r} may be any of {', '.join(ends)}. Please name one.")
        return self._score(name) or self._unknown(name)

    def _score(self, name: str) -> Field | None:
        benchmark, dot, of = name.partition(".")
        places = (benchmark,) if dot else (MICRO,) if metric(name).share else (POOLED, MACRO)
        fields = [Field(f"{place}.{of or name}", "number", of or name) for place in places]
        return next(filter(self._store.has_score, fields), None)

    def _unknown(self, name: str) -> Field:
        near = get_close_matches(name, self._types, NEAR, cutoff=0.0)
        ends = {known for known in self._types if known.rpartition(".")[2] in near}
        raise UserError(
            unknown(
                "field of runs",
                name,
                {*near, *ends},
                "These are the nearest. `harness show RUN --all` has the fields of a run; a score "
                "is BENCHMARK.METRIC, or METRIC alone for the average.",
                also=self._types,
            )
        )


def query(store: Reader, asked: Asked, kinds: Sequence[Kind]) -> Query:
    """Read what is asked for.

    Raises:
        UserError: A condition, field or value cannot be read.
        ResultsError: A name is of no stored run.
    """
    needed = asked.metrics or asked.where or asked.sort
    fields = Fields(store) if needed else None
    conditions = [*_named(asked), *_in_time(asked)]
    if fields:
        conditions += [one for text in asked.metrics for one in _in_range(fields, text)]
        conditions += [_condition(fields, text) for text in asked.where]
    return Query(
        tuple(conditions),
        _parts(asked, kinds),
        fields.named(asked.sort.removeprefix("-")) if fields and asked.sort else None,
        asked.sort.startswith("-"),
    )


def require_known(store: Reader, asked: Asked) -> None:
    """Refuse names that no run has: where nothing was found, one of them may be mistyped.

    Raises:
        UserError: It gives the nearest of each.
    """
    typed: dict[str, Collection[str]] = {
        "status": [asked.status],
        "protocol": [asked.protocol],
        "environment": [asked.environment],
        TAG: asked.tags,
    }
    faults: list[str] = []
    for field, names in typed.items():
        known = list(filter(None, store.values(field))) if any(names) else []
        faults += [
            unknown(f"{field} of stored runs", name, known)
            for name in filter(None, names)
            if not any(_is(field, one, name) for one in known)
        ]
    if faults:
        raise UserError("\n".join(faults))


def _is(field: str, known: str, typed: str) -> bool:
    return known.startswith(typed) if field in ("protocol", "environment") else known == typed


def _named(asked: Asked) -> Iterator[Condition]:
    if asked.status == FORGOTTEN:
        yield Condition(Field(FORGOTTEN, "text"), "!=", "")
    elif asked.status:
        yield Condition(Field("status", "text"), "=", asked.status)
    for name, value in {"protocol": asked.protocol, "environment": asked.environment}.items():
        if value:
            yield Condition(Field(name, "text"), "starts", value)
    for tag in asked.tags:
        yield Condition(Field(TAG, "text"), "=", tag)
    if asked.seeds:
        yield Condition(Field("seed", "number"), "in", tuple(_seeds(asked.seeds)))


def _seeds(typed: str) -> list[float]:
    try:
        return [float(int(one)) for one in typed.split(",")]
    except (ValueError, OverflowError) as error:
        raise UserError(
            f"--seed {typed!r} is no list of seeds. Please give numbers, such as 7,8."
        ) from error


def _in_time(asked: Asked) -> Iterator[Condition]:
    started = Field("started", "time")
    bounds: tuple[tuple[Operator, str], ...] = ((">=", asked.start), ("<=", asked.end))
    for operator, bound in bounds:
        if bound:
            yield compared(started, operator, bound)


def _in_range(fields: Fields, text: str) -> Iterator[Condition]:
    match = RANGE.fullmatch(text)
    if not match:
        raise UserError(
            f"--metric {text!r} is no range. Please write METRIC:LOW..HIGH, such as "
            "accuracy:60..80 or gsm8k.accuracy:60.. ."
        )
    name, low, high = match.groups()
    field = fields.named(name.strip())
    bounds: tuple[tuple[Operator, str], ...] = ((">=", low), ("<=", high))
    for operator, bound in bounds:
        if bound.strip():
            yield compared(field, operator, bound.strip())


def _condition(fields: Fields, text: str) -> Condition:
    match = CONDITION.fullmatch(text)
    if not match:
        raise UserError(
            f"--where {text!r} is no condition. Please write 'FIELD OP VALUE' with one of "
            "= != < <= > >= ~ (contains), such as 'train.lr >= 1e-4'."
        )
    name, value = match[1], match[3]
    operator = cast(Operator, match[2])
    field = fields.named(name)
    if operator == "~":
        return Condition(_require_text(field, text), "~", value)
    return compared(field, operator, value)


def _require_text(field: Field, text: str) -> Field:
    if field.type != "text":
        raise UserError(f"--where {text!r}: {field.name} is no text, so it contains none.")
    return field


def _parts(asked: Asked, kinds: Sequence[Kind]) -> tuple[Part, ...] | None:
    """Say which kinds names are of, and for fields of a method that labels leave open, which runs.

    Raises:
        ResultsError: A name is of none of the kinds.
    """
    tasks, backbones = list(map(without_path, split_names(asked.tasks))), [asked.backbone]
    names = (
        tasks,
        [without_path(asked.method)] * bool(asked.method),
        backbones * bool(asked.backbone),
    )
    if not any(names):
        return None
    narrowed(kinds, *names)
    found = chosen(kinds, *names)
    if not asked.method:
        return None if len(found) == len(kinds) else (Part(found),)
    return tuple(_of_method(found, names[1][0]))


def _of_method(kinds: Sequence[Kind], typed: str) -> Iterator[Part]:
    by_label: dict[str, list[Kind]] = {}
    for kind in kinds:
        by_label.setdefault(kind.method, []).append(kind)
    for label, of_label in by_label.items():
        opened = left_open(label, typed)
        if opened is not None:
            version, fields = opened
            source = Field("method.source", "text")
            of_version = [Condition(source, "starts", version)] if version else []
            yield Part(of_label, (*of_version, *(_open(*one) for one in fields.items())))


def _open(name: str, value: object) -> Condition:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    path = name if name.startswith(OWN) else f"method.fields.{name}"
    return Condition(
        Field(path, "number" if is_number else "text"),
        "=",
        float(str(value)) if is_number else written(value),
    )
