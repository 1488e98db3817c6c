"""What the user asked for on the command line, parsed; all faults of a request at once."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from harness import plugins
from harness.errors import UserError, unknown
from harness.protocols.base import PROTOCOLS, Protocol, resolve
from harness.spec.spec import BatchPlan, Recipe
from tasks.data.files import DataError

T = TypeVar("T")
Part = TypeVar("Part")

PAPER_SEEDS = (2333, 1000, 2000, 3000, 4000)
"""The seeds of the DyPAM, RoSA and CASCADE papers, in their order."""

LARGEST_SEED = 2**63 - 1
"""What torch and every database take."""


@dataclass(frozen=True)
class MethodRequest:
    """A method by name, one of its variants if any, and the fields that the user set."""

    name: str
    overrides: dict[str, Any] = field(default_factory=dict)
    variant: str | None = None


class Faults:
    """Collects the faults of a request, to report them together."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def each(self, parse: Callable[[Part], T], parts: Iterable[Part]) -> list[T]:
        """Parse each part and return what could be parsed; note the faults of the others."""
        parsed = []
        for part in parts:
            try:
                parsed.append(parse(part))
            except (UserError, DataError) as fault:
                self.found.append(str(fault))
        return parsed

    def raise_if_any(self) -> None:
        """Report all faults in one message."""
        if self.found:
            raise UserError("\n".join(self.found))


def split_list(text: str) -> list[str]:
    """Split at commas outside brackets.

    >>> split_list("dypam, lora[r=64,lora_alpha=128]")
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


def parse_method(text: str) -> MethodRequest:
    """Parse `name`, `name:variant`, `peft:TYPE`, each with `[field=value,...]` or without.

    >>> parse_method("lora:rosa-paper[lora_alpha=32]")
    MethodRequest(name='lora', overrides={'lora_alpha': 32}, variant='rosa-paper')
    >>> parse_method("peft:WAVEFT")
    MethodRequest(name='peft:WAVEFT', overrides={}, variant=None)
    """
    called, bracket, rest = text.partition("[")
    if bracket and not rest.endswith("]"):
        raise UserError(f"{text!r}: no closing bracket. Write for example lora[r=64].")
    name, _, variant = called.partition(":")
    overrides = dict(_assignment(part) for part in split_list(rest[:-1]))
    if name == "peft" and variant:
        return MethodRequest(f"peft:{variant}", overrides)
    if name not in plugins.names("methods"):
        known = plugins.names("methods")
        hint = "Any other tuner of PEFT: peft:TYPE. To add a method: methods/README.md"
        raise UserError(unknown("method", name, known, hint))
    return MethodRequest(name, overrides, variant or None)


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


def parse_tasks(text: str) -> tuple[str, tuple[str, ...]]:
    """Parse a group, or benchmarks of one group, into the group and the benchmarks."""
    groups, benchmarks = plugins.names("groups"), plugins.names("tasks")
    wanted = split_list(text)
    wrong = [name for name in wanted if name not in {*groups, *benchmarks}]
    if wrong or not wanted:
        known = [*groups, *benchmarks]
        raise UserError("\n".join(unknown("task", name, known) for name in wrong or [text]))
    chosen: dict[str, None] = {}
    for name in wanted:
        chosen |= dict.fromkeys(plugins.group(name).benchmarks if name in groups else [name])
    owners = {name if name in groups else plugins.group_of(name) for name in wanted}
    if len(owners) > 1:
        raise UserError(
            f"--tasks {text}: these belong to {len(owners)} groups ({', '.join(sorted(owners))}), "
            "each with a training set of its own. Run the groups one by one."
        )
    group = owners.pop()
    return group, tuple(name for name in plugins.group(group).benchmarks if name in chosen)


def parse_settings(
    settings: Sequence[str], protocol: str, group: str
) -> tuple[Recipe, BatchPlan, Protocol]:
    """Parse `train.lr=5e-4`, `generate.batch_size=8` and `protocol.loss=answer`.

    Args:
        settings: The assignments.
        protocol: The name of the protocol to start from.
        group: The group, whose papers may have defaults of their own; empty if it is not known.

    Raises:
        UserError: With all faults.
    """
    if protocol not in PROTOCOLS:
        raise UserError(unknown("protocol", protocol, PROTOCOLS))
    named = plugins.group(group) if group else None
    patience, limit = (named.patience, named.max_length) if named else (0, None)
    sections: dict[str, Callable[..., Any]] = {
        "train": lambda **values: Recipe(**{"patience": patience, **values}),
        "generate": BatchPlan,
        "protocol": lambda **values: resolve(protocol, group, values, limit),
    }
    made, faults = [], Faults()
    values = _by_section(settings, faults)
    for section, make in sections.items():
        try:
            made.append(make(**values[section]))
        except ValidationError as error:
            faults.found += [
                f"--set {section}.{'.'.join(map(str, fault['loc']))}: {fault['msg']}, "
                f"not {fault['input']!r}."
                for fault in error.errors()
            ]
    faults.raise_if_any()
    recipe, batches, resolved = made
    return recipe, batches, resolved


FIXED = ("id", "version")
"""What names a protocol is not for the user to set."""


def _by_section(settings: Sequence[str], faults: Faults) -> dict[str, dict[str, Any]]:
    """Sort assignments by section and field; note the faults of those that fit none."""
    models: dict[str, type[BaseModel]] = {
        "train": Recipe,
        "generate": BatchPlan,
        "protocol": Protocol,
    }
    known = [
        f"{name}.{key}"
        for name, model in models.items()
        for key in model.model_fields
        if name != "protocol" or key not in FIXED
    ]
    values: dict[str, dict[str, Any]] = {name: {} for name in models}
    for key, value in faults.each(_assignment, settings):
        if key not in known:
            faults.found.append(unknown("setting", key, known))
            continue
        section, name = key.split(".")
        values[section][name] = value
    return values


def _assignment(text: str) -> tuple[str, Any]:
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
