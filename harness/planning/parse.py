"""Reading the words of a request: methods, tasks, seeds, assignments."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness import plugins
from harness.errors import UserError, unknown
from harness.planning.faults import Faults
from harness.planning.request import Request
from harness.planning.tries import expanded
from harness.spec.recipe import SHARED, Recipe
from results.analysis.runs.selection import split_names

PAPER_SEEDS = (2333, 1000, 2000, 3000, 4000)
"""The seeds of the DyPAM, RoSA and CASCADE papers, in their order."""

LARGEST_SEED = 2**63 - 1
"""What torch and every database take."""

ALL = "all"
"""Every method there is."""

LEAST_TRAIN_LIMIT = 20
"""A tenth of the rows is held out to choose the adapter: of fewer, one row or none."""

RECIPE = "train."
"""What a field of the recipe begins with, so that it is not taken for one of the method."""


@dataclass(frozen=True)
class MethodRequest:
    """A method by name, one of its variants if any, and the fields that the user set.

    Attributes:
        train: Fields of the recipe that are this method's own.
        tries: How many recipes of it were asked for together.
        any_size: Whether its variant `small` will do where a backbone is too small for it.
        text: What the user typed, all tries together.
    """

    name: str
    overrides: Mapping[str, Any] = field(default_factory=dict)
    variant: str | None = None
    train: Mapping[str, Any] = field(default_factory=dict)
    tries: int = 1
    any_size: bool = False
    text: str = field(default="", compare=False)

    def __str__(self) -> str:
        """What the user typed, all tries together."""
        return self.text


@dataclass(frozen=True)
class Tasks:
    """Benchmarks of one group, in its order: what one run is tested on.

    Attributes:
        group: Empty if the tasks could not be read.
    """

    group: str = ""
    benchmarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Parsed:
    """A request in names and values, each of which exists or is well formed.

    Attributes:
        tasks: At least one; a run is of one of them.
        settings: The values of the assignments, by section and field.
    """

    methods: tuple[MethodRequest, ...]
    backbones: tuple[str, ...]
    tasks: tuple[Tasks, ...]
    seeds: tuple[int, ...]
    settings: tuple[tuple[str, Any], ...]


def parse(request: Request, faults: Faults) -> Parsed:
    """Read the words of a request, and note what cannot be read."""
    faults.of(lambda: _check_files(split_names(request.methods)), "methods")
    faults.of(lambda: _check_files(split_names(request.tasks)), "tasks")
    faults.of(lambda: _check_train_limit(request.train_limit), "train-limit")
    methods = faults.each(parse_methods, split_names(request.methods) or [""], "methods")
    return Parsed(
        methods=tuple(method for several in methods for method in several),
        backbones=tuple(split_names(request.backbones) or [""]),
        tasks=faults.of(lambda: parse_tasks(request.tasks), "tasks") or (Tasks(),),
        seeds=faults.of(lambda: parse_seeds(request.seeds), "seeds") or (),
        settings=tuple(faults.each(parse_assignment, request.settings)),
    )


def parse_methods(text: str) -> tuple[MethodRequest, ...]:
    """Parse a method with all its tries, or `all`, which leaves out guests that cannot be used."""
    if text == ALL:
        return tuple(
            MethodRequest(name, any_size=True, text=text) for name in plugins.usable("methods")
        )
    found = expanded(text)
    return tuple(replace(parse_method(one), tries=len(found), text=text) for one in found)


def left_out(request: Request) -> list[str]:
    """Say which methods `all` leaves out, and why."""
    if ALL not in split_names(request.methods):
        return []
    return [*plugins.faults("methods").values(), *plugins.taken("methods")]


def _check_train_limit(limit: int | None) -> None:
    if limit is not None and limit < LEAST_TRAIN_LIMIT:
        raise UserError(
            f"--train-limit {limit}: a tenth of the training rows is held out to choose the "
            f"adapter by its loss. Take {LEAST_TRAIN_LIMIT} rows at least, so that it is two."
        )


def _check_files(texts: Iterable[str]) -> None:
    """Refuse two files of one name: a run names its method and its benchmarks by it."""
    files = defaultdict(set)
    for path in [Path(_called(text)[0]) for text in texts]:
        if path.suffix == plugins.FILE:
            files[path.stem].add(path.resolve())
    for name, paths in files.items():
        if len(paths) > 1:
            both = " and ".join(map(str, sorted(paths)))
            raise UserError(f"{both} are both called {name!r}. Rename one.")


def _called(text: str) -> tuple[str, str]:
    """Split what precedes the brackets into a name, or the path of a file, and a variant."""
    name, _, variant = text.partition("[")[0].partition(":")
    return name.strip(), variant.strip()


def parse_method(text: str) -> MethodRequest:
    """Parse `name`, `name:variant`, `peft:TYPE`, each with `[field=value,...]` or without.

    The name may be the path of a file, such as `my/tanh_lora.py[r=8]`.

    >>> parsed = parse_method("lora:rosa-paper[lora_alpha=32,train.lr=2e-4]")
    >>> parsed.name, parsed.variant, parsed.overrides, parsed.train
    ('lora', 'rosa-paper', {'lora_alpha': 32}, {'lr': 0.0002})
    >>> parse_method("peft:WAVEFT").name
    'peft:WAVEFT'
    """
    _, bracket, rest = text.partition("[")
    if bracket and not rest.endswith("]"):
        raise UserError(f"{text!r}: no closing bracket. Write for example lora[r=64].")
    name, variant = _called(text)
    values = dict(parse_assignment(part) for part in split_names(rest[:-1]))
    own = {key.removeprefix(RECIPE): values.pop(key) for key in [*values] if key.startswith(RECIPE)}
    _check_own(name, own)
    if name == "peft" and variant:
        return MethodRequest(f"peft:{variant}", values, train=own)
    if name.endswith(plugins.FILE):
        name = plugins.add("methods", Path(name))
    if name not in plugins.names("methods"):
        known = plugins.names("methods")
        hint = (
            "Any other tuner of PEFT: peft:TYPE. A method of your own: the path of its file, such "
            "as my/method.py; see methods/README.md"
        )
        raise UserError(unknown("method", name, known, hint, also=plugins.files_here()))
    return MethodRequest(name, values, variant or None, own)


def _check_own(name: str, own: Mapping[str, Any]) -> None:
    """Refuse fields of the recipe that do not exist, or in which all methods must agree."""
    known = [field for field in Recipe.model_fields if field not in SHARED]
    for field_name in own:
        if field_name in SHARED:
            raise UserError(
                f"{name}: train.{field_name} must be the same for all methods that are compared."
                f"\n  Set it for all of them: --set train.{field_name}=..."
            )
        if field_name not in known:
            raise UserError(unknown("setting", f"train.{field_name}", [RECIPE + f for f in known]))


def parse_seeds(text: str) -> tuple[int, ...]:
    """Parse how many of the papers' seeds (`5`) or which seeds (`7,8`, or `7,` for one).

    >>> parse_seeds("2"), parse_seeds("7,8"), parse_seeds("7,")
    ((2333, 1000), (7, 8), (7,))
    """
    parts = text.split(",")
    try:
        numbers = tuple(int(part) for part in parts if part.strip())
    except ValueError:
        numbers = ()
    distinct = len(set(numbers)) == len(numbers)
    if not numbers or not distinct or min(numbers) < 0 or max(numbers) > LARGEST_SEED:
        raise UserError(
            f"--seeds {text!r}: expected how many (1 to {len(PAPER_SEEDS)}) or a list of distinct "
            "seeds such as 7,8."
        )
    if len(parts) > 1:
        return numbers
    if not 1 <= numbers[0] <= len(PAPER_SEEDS):
        raise UserError(
            f"--seeds {text}: the papers use {len(PAPER_SEEDS)} seeds {PAPER_SEEDS}. For others "
            f"give a list, such as --seeds 7,8, or {text}, for the one seed {text}."
        )
    return PAPER_SEEDS[: numbers[0]]


def parse_tasks(text: str) -> tuple[Tasks, ...]:
    """Parse groups and benchmarks into the benchmarks of each group, in the order typed.

    A benchmark that is in two groups is of the first by name: name the other to have it there.
    Those that are in no group are one of their own.
    """
    wanted, groups = task_names(text), plugins.names("groups")
    owners = {name: name if name in groups else plugins.group_of(name) for name in wanted}
    alone = "+".join(sorted({owner for owner in owners.values() if owner not in groups}))
    chosen: dict[str, set[str]] = {}
    for name, owner in owners.items():
        members = plugins.group(name).benchmarks if name in groups else [name]
        chosen.setdefault(owner if owner in groups else alone, set()).update(members)
    return tuple(
        Tasks(group, tuple(name for name in plugins.group(group).benchmarks if name in members))
        for group, members in chosen.items()
    )


def task_names(text: str) -> list[str]:
    """Parse groups and benchmarks into their names; a benchmark may be the path of its file."""
    wanted = [_task(name) for name in split_names(text)]
    known = [*plugins.names("groups"), *plugins.names("tasks")]
    wrong = [name for name in wanted if name not in known]
    if wrong or not wanted:
        files = plugins.files_here()
        told = (unknown("task", name, known, also=files) for name in wrong or [text])
        raise UserError("\n".join(told))
    return wanted


def _task(text: str) -> str:
    return plugins.add("tasks", Path(text)) if text.endswith(plugins.FILE) else text


def parse_assignment(text: str) -> tuple[str, Any]:
    """Parse `field=value`, the value as JSON if it is JSON (`64`, `[1,2]`), else as text.

    >>> parse_assignment("train.lr=5e-4"), parse_assignment("bias=none")
    (('train.lr', 0.0005), ('bias', 'none'))
    """
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UserError(f"{text!r}: expected field=value.")
    return name.strip(), _value(value.strip())


def _value(text: str) -> Any:
    """Read a value as JSON where it is JSON (`64`, `true`, `[1,2]`), else as text."""
    try:
        return json.loads(text)
    except ValueError:
        return text
