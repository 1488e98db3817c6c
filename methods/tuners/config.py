"""What the configurations of all methods written here do, and checks of their fields."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin, get_type_hints

from peft import PeftConfig


@dataclass
class NativeConfig(PeftConfig):
    """The base of a native method's configuration, which names its `peft_type`.

    A field of type `Literal[...]` must hold one of its values. `target_modules`, which a saved
    configuration has as a list, is made a set.
    """

    peft_type: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()  # type: ignore[no-untyped-call]
        self.peft_type = type(self).peft_type
        for name, hint in get_type_hints(type(self)).items():
            if get_origin(hint) is Literal and getattr(self, name) not in get_args(hint):
                known = ", ".join(get_args(hint))
                raise ValueError(f"{name} must be one of {known}, not {getattr(self, name)}.")
        config: Any = self
        if not isinstance(config.target_modules, str | None):
            config.target_modules = set(config.target_modules)


def require(config: Any, limit: str, holds: Callable[[Any], bool], *names: str) -> None:
    """Check fields of a configuration.

    Raises:
        ValueError: A field is not finite, or `holds` is false of it; names field, value and limit.
    """
    for name in names:
        value = getattr(config, name)
        if not math.isfinite(value) or not holds(value):
            raise ValueError(f"{name} must be {limit}, not {value}.")
