"""From assignments such as `train.lr=5e-4` to recipe, batch plan, protocol and memory."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from harness import plugins, protocols
from harness.errors import UserError, unknown
from harness.planning.faults import Faults
from harness.planning.grid_file import COMMAND_LINE, Origin
from harness.spec.planned import Memory
from harness.spec.protocol import Protocol
from harness.spec.recipe import USUAL_BATCHES, BatchPlan, Recipe

M = TypeVar("M", bound=BaseModel)

SECTIONS: Mapping[str, type[BaseModel]] = {
    "train": Recipe,
    "generate": BatchPlan,
    "protocol": Protocol,
    "memory": Memory,
}

NAMED = ("id", "version")
"""Fields that name a protocol or a recipe are not for the user to set."""


@dataclass(frozen=True)
class Settings:
    """What all methods of a request share.

    Attributes:
        assigned: The fields of the recipe that were set for all methods.
    """

    recipe: Recipe
    batches: BatchPlan
    protocol: Protocol
    memory: Memory
    assigned: Mapping[str, Any]

    @property
    def chosen(self) -> Literal["default", "for all methods"]:
        """How the shared recipe was chosen."""
        return "for all methods" if self.assigned else "default"

    def own_recipe(self, method: str, fields: Mapping[str, Any]) -> Recipe:
        """Give a method the shared recipe with fields of its own.

        Raises:
            UserError: A field holds what it cannot.
        """
        values = {**self.recipe.model_dump(), **fields}
        return _made(f"{method}: train", Recipe, values)


def make_settings(
    assignments: Iterable[tuple[str, Any]], protocol: str, group: str, origin: Origin = COMMAND_LINE
) -> Settings:
    """Build what all methods share from defaults, the group's own defaults and assignments.

    Args:
        assignments: Fields with their section, such as ("train.lr", 5e-4), and values.
        protocol: The name of the protocol to start from.
        group: The group, whose papers may have defaults of their own; empty if it is not known.
        origin: Where the assignments stand, for messages.

    Raises:
        UserError: With all faults.
    """
    if protocol not in protocols.names():
        raise UserError(origin.told("protocol") + unknown("protocol", protocol, protocols.names()))
    named = plugins.group(group) if group else None
    patience, limit = (named.patience, named.max_length) if named else (0, None)
    faults = Faults()
    values = _by_section(assignments, origin, faults)
    train = {"patience": patience, **values["train"]}
    recipe = faults.of(lambda: _made("--set train", Recipe, train, origin))
    generate = {**USUAL_BATCHES.model_dump(), **values["generate"]}
    batches = faults.of(lambda: _made("--set generate", BatchPlan, generate, origin))
    memory = faults.of(lambda: _made("--set memory", Memory, values["memory"], origin))
    resolved = faults.of(
        lambda: _validated(
            "--set protocol",
            lambda: protocols.resolve(protocol, group, values["protocol"], limit),
            origin,
        )
    )
    faults.raise_if_any()
    assert recipe
    assert batches
    assert memory
    assert resolved
    return Settings(recipe, batches, resolved, memory, values["train"])


def _made(
    section: str, model: type[M], values: Mapping[str, Any], origin: Origin = COMMAND_LINE
) -> M:
    return _validated(section, lambda: model(**values), origin)


def _validated(section: str, make: Callable[[], M], origin: Origin) -> M:
    """Make a section of the settings; say which of its fields hold what they cannot."""
    try:
        return make()
    except ValidationError as error:
        faults = []
        for fault in error.errors():
            field = f"{section}.{'.'.join(map(str, fault['loc']))}"
            where = origin.told(field.replace("--set ", "set."))
            faults.append(f"{where}{field}: {fault['msg']}, not {fault['input']!r}.")
        raise UserError("\n".join(faults)) from error


def _by_section(
    assignments: Iterable[tuple[str, Any]], origin: Origin, faults: Faults
) -> dict[str, dict[str, Any]]:
    """Sort assignments by section and field; note the faults of those that fit none."""
    known = [
        f"{section}.{name}"
        for section, model in SECTIONS.items()
        for name in model.model_fields
        if section != "protocol" or name not in NAMED
    ]
    values: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
    for key, value in assignments:
        if key not in known:
            faults.add(origin.told(f"set.{key}") + unknown("setting", key, known))
            continue
        section, name = key.split(".")
        values[section][name] = value
    return values
