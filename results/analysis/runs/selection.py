"""The runs that a user names: by groups and benchmarks, by methods, by backbones."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypedDict

from results.analysis.runs import backbones as naming
from results.analysis.runs.sources import version
from results.errors import ResultsError, unknown
from results.record import Kind, Run

OWN = "train."
"""What a field of the recipe begins with in the label of a method."""


class Filters(TypedDict):
    """Groups, labels of methods and backbones by name; an empty list passes all."""

    groups: list[str]
    methods: list[str]
    backbones: list[str]


def narrowed(
    newest_first: Sequence[Kind],
    tasks: Collection[str] = (),
    methods: Collection[str] = (),
    backbones: Collection[str] = (),
) -> Filters:
    """Say which runs need to be looked at to find those that the names are of.

    Raises:
        ResultsError: A name is of none of the kinds; it gives the nearest ones.
    """
    called = naming.names(newest_first)
    known = {name for kind in newest_first for name in (kind.group, *kind.benchmarks)}
    labels = {kind.method for kind in newest_first}
    known_backbones = {name for kind in newest_first for name in _called(kind, called)}
    faults = [
        *_faults("task", tasks, known, lambda name: name in known),
        *_faults(
            "method", methods, labels, lambda name: any(may_be(label, name) for label in labels)
        ),
        *_faults("backbone", backbones, known_backbones, lambda name: name in known_backbones),
    ]
    if faults:
        raise ResultsError("\n".join(faults))
    return Filters(
        groups=sorted({k.group for k in newest_first if {k.group, *k.benchmarks} & set(tasks)}),
        methods=sorted(label for label in labels if any(may_be(label, name) for name in methods)),
        backbones=sorted({k.backbone for k in newest_first if _called(k, called) & set(backbones)}),
    )


def chosen(
    newest_first: Sequence[Kind],
    tasks: Collection[str] = (),
    methods: Collection[str] = (),
    backbones: Collection[str] = (),
) -> list[Kind]:
    """Keep the kinds of which runs may be that the names are of."""
    called = naming.names(newest_first)
    return [
        kind
        for kind in newest_first
        if (not tasks or {kind.group, *kind.benchmarks} & set(tasks))
        and (not methods or any(may_be(kind.method, name) for name in methods))
        and (not backbones or _called(kind, called) & set(backbones))
    ]


def left_open(label: str, typed: str) -> tuple[str, dict[str, Any]] | None:
    """Give what a user named and a label does not state: the version, and fields.

    None if the label states other values.

    >>> left_open("lora[r=64]", "lora@9f3c[r=64,train.lr=2e-4]")
    ('9f3c', {'train.lr': 0.0002})
    >>> left_open("lora[r=64]", "lora[r=8]")
    """
    (called, wanted), (_, own) = _read(typed), _read(label)
    stated = {name: value for name, value in own.items() if not name.startswith(OWN)}
    if any(value != wanted.get(name) for name, value in stated.items()):
        return None
    opened = {name: value for name, value in wanted.items() if name not in stated}
    return called.partition("@")[2], opened


def require(runs: Sequence[Run], methods: Collection[str], stored: Sequence[Kind]) -> None:
    """Refuse a method that is of none of the runs, with the nearest labels of those `stored`.

    Raises:
        ResultsError: There is such a method.
    """
    labels = {kind.method for kind in stored}
    faults = _faults("method", methods, labels, lambda name: any(is_of(run, name) for run in runs))
    if faults:
        raise ResultsError("\n".join(faults))


def select(
    runs: Sequence[Run],
    stored: Sequence[Kind],
    tasks: Collection[str] = (),
    methods: Collection[str] = (),
    backbones: Collection[str] = (),
) -> list[Run]:
    """Keep the runs that the names are of; no names keep all.

    Of a run that benchmarks name, and not its group, only the scores of these are kept.

    Args:
        runs: The newest first.
        stored: The kinds of all stored runs, which tell backbones of one name apart.
        tasks: Groups and benchmarks.
        methods: Labels; the order of their fields does not matter.
        backbones: As tables name them.
    """
    called = naming.names(stored)
    found = [
        run
        for run in runs
        if (not methods or any(is_of(run, name) for name in methods))
        and (not backbones or _called(run, called) & set(backbones))
    ]
    return [part for run in found if (part := _of_tasks(run, tasks))]


def may_be(label: str, typed: str) -> bool:
    """Tell whether runs of a label can be of the method that a user named."""
    (called, wanted), (name, own) = _read(typed), _read(label)
    stated = {field for field in own if not field.startswith(OWN)}
    return called.partition("@")[0].casefold() == name.casefold() and stated <= wanted.keys()


def is_of(run: Run, typed: str) -> bool:
    """Tell whether a run is of the method that a user named.

    The order of the fields does not matter. A field that was typed with its default counts as
    typed, and a field of the recipe is looked up in the recipe. A version may be named as tables
    do: `tanh_lora@9f3c1a2b`.
    """
    (called, wanted), (_, own) = _read(typed), _read(run.method)
    if not may_be(run.method, typed) or not version(run).startswith(called.partition("@")[2]):
        return False
    spec: Mapping[str, Any] = run.spec
    recipe = {OWN + field: value for field, value in spec.get("train", {}).items()}
    actual = spec.get("method", {}).get("fields", {}) | own | recipe
    return all(field in actual and actual[field] == value for field, value in wanted.items())


def require_finished(runs: Sequence[Run], *methods: str) -> None:
    """Refuse methods that have no finished run.

    Raises:
        ResultsError: It names each, and the nearest that has.
    """
    finished = [run for run in runs if run.status == "finished"]
    faults = [
        unknown("method with finished runs", name, {run.method for run in finished})
        for name in methods
        if not any(is_of(run, name) for run in finished)
    ]
    if faults:
        raise ResultsError("\n".join(faults))


def _called(run: Run | Kind, names: Mapping[tuple[str, str], str]) -> set[str]:
    return {run.backbone, names[run.backbone_identity]}


def _of_tasks(run: Run, tasks: Collection[str]) -> Run | None:
    if not tasks or run.group in tasks:
        return run
    own = run.benchmarks
    if not (wanted := set(own) & set(tasks)):
        return None
    return replace(
        run,
        scores=tuple(score for score in run.scores if score.benchmark in wanted),
        flags=tuple(f for f in run.flags if f.partition(":")[0] not in set(own) - wanted),
    )


def _faults(
    kind: str, typed: Iterable[str], known: Collection[str], found: Callable[[str], bool]
) -> list[str]:
    """Say of each name that is of no run which ones are near."""
    return [unknown(f"{kind} with stored runs", name, known) for name in typed if not found(name)]


@lru_cache
def _read(label: str) -> tuple[str, Mapping[str, Any]]:
    """Split the label of a method into its name and its fields.

    >>> _read("lora[r=64,target_modules=[q,v],train.lr=2e-4]")
    ('lora', {'r': 64, 'target_modules': '[q,v]', 'train.lr': 0.0002})
    """
    name, _, rest = label.partition("[")
    pairs = (part.partition("=") for part in split_names(rest.removesuffix("]")))
    return name.strip(), {key.strip(): _value(value.strip()) for key, _, value in pairs}


def split_names(text: str) -> list[str]:
    """Split at commas outside brackets.

    >>> split_names("dypam, lora[r=64,lora_alpha=128]")
    ['dypam', 'lora[r=64,lora_alpha=128]']
    """
    parts, depth = [""], 0
    for character in text:
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
