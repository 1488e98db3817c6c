"""Make PEFT and transformers know the methods of this folder: `import methods.register`.

PEFT finds the classes of an adapter by the type in its `adapter_config.json`. After this import
every type of this folder is in PEFT's mappings, and a method's file is imported when the first
adapter of its type is loaded. So the import costs that of PEFT and little more.

Which file is for which type is read from the text of the files, since importing all of them would
take seconds.
"""

import json
import re
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

from peft import PeftType
from peft.mapping import PEFT_TYPE_TO_CONFIG_MAPPING, PEFT_TYPE_TO_TUNER_MAPPING

from methods.tuners.config import NativeConfig

ADVICE = "first `import methods.register`, of peft-proving-ground"
"""Stands after the type in `adapter_config.json`, where PEFT's KeyError for a type that it does not
know shows it: PEFT has no other place that a message could come from."""

DEFINES = re.compile(r'^    peft_type = "(\w+)"', re.MULTILINE)
NEEDED = ("BOFT",)
"""Types of PEFT whose adapters PEFT alone cannot load: of BOFT it builds half without CUDA."""

REPLACES = re.compile(r"^PEFT_TYPE_TO_TUNER_MAPPING\[PeftType\.(\w+)\] = ", re.MULTILINE)


class TypeName(str):
    """The name of a type, read like a member of PEFT's enumeration, which cannot be extended."""

    @property
    def value(self) -> str:
        """The name: transformers asks for it."""
        return str(self)


class AtFirstUse:
    """Stands in one of PEFT's mappings for a class that importing a method's file puts there."""

    def __init__(self, mapping: dict[Any, Any], name: Any, module: str) -> None:
        self._mapping, self._name, self._module = mapping, name, module

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Make an object of the class."""
        return self._class()(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._class(), name)

    def _class(self) -> Any:
        import_module(self._module)
        return self._mapping[self._name]


def advised(name: str) -> str:
    """Write a type with the advice.

    >>> advised("DYPAM")
    'DYPAM: first `import methods.register`, of peft-proving-ground'
    """
    return f"{name}: {ADVICE}"


def rename(path: Path, backbone: str, revision: str | None) -> None:
    """Name backbone and type in an `adapter_config.json` as other machines need them.

    The type gets the advice where PEFT alone cannot load the adapter. PEFT cannot write this
    itself: it looks for the backbone, by its name, in the middle of saving.
    """
    values = json.loads(path.read_text(encoding="utf-8"))
    values |= {"base_model_name_or_path": backbone, "revision": revision}
    if values["peft_type"] in {*types(DEFINES), *NEEDED}:
        values["peft_type"] = advised(values["peft_type"])
    path.write_text(json.dumps(values, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def types(expression: re.Pattern[str]) -> dict[str, str]:
    """Find the types that files of this folder define or replace, with the module of each."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return {
        name: f"methods.{file.stem}"
        for file in files
        for name in expression.findall(file.read_text(encoding="utf-8"))
    }


def _with_value(set_up: Callable[[Any], None]) -> Callable[[Any], None]:
    """Give the type of a configuration the `value` that transformers reads."""

    @wraps(set_up)
    def __post_init__(self: Any) -> None:  # noqa: N807 (it takes the place of one)
        set_up(self)
        self.peft_type = TypeName(self.peft_type)

    return __post_init__


def _register() -> None:
    configs: dict[Any, Any] = PEFT_TYPE_TO_CONFIG_MAPPING
    tuners: dict[Any, Any] = PEFT_TYPE_TO_TUNER_MAPPING
    for name, module in types(DEFINES).items():
        configs[advised(name)] = AtFirstUse(configs, name, module)
        configs.setdefault(name, AtFirstUse(configs, name, module))
    for name in NEEDED:
        configs[advised(name)] = configs[name]
    for name, module in types(REPLACES).items():
        if tuners[PeftType(name)].__module__.startswith("peft."):
            tuners[PeftType(name)] = AtFirstUse(tuners, name, module)


_register()
# Here and not in the class, whose source is part of the ids of runs.
NativeConfig.__post_init__ = _with_value(NativeConfig.__post_init__)  # type: ignore[method-assign, assignment]
