"""Protocols: a file is a protocol, and its name, with hyphens, is its name on the command line.

Each offers `protocol` and `of_group`, the fields in which it differs for a group.
"""

import pkgutil
from hashlib import sha256
from importlib import import_module
from typing import Any

from harness.spec.protocol import Protocol

DEFAULT = "paper"

LONGEST_NAMED = 20
"""Characters of a value in the name of a protocol; longer ones are named by a hash."""


def names() -> list[str]:
    """List the protocols, importing none."""
    return sorted(module.name.replace("_", "-") for module in pkgutil.iter_modules(__path__))


def load(name: str) -> Protocol:
    """Return a protocol as it is before any group or user changes it."""
    protocol: Protocol = _module(name).protocol
    return protocol


def resolve(name: str, group: str, settings: dict[str, Any], max_length: int | None) -> Protocol:
    """Return a protocol as it is for a group, with the user's settings.

    Args:
        name: One of `names()`.
        group: The name of the group.
        settings: Fields that the user set.
        max_length: Tokens of a training row, where the group's papers state a limit of their own.

    Raises:
        pydantic.ValidationError: A field is unknown or has no such value.
    """
    values = dict(load(name)) | _module(name).of_group(group, max_length)
    changed = {key: value for key, value in sorted(settings.items()) if value != values[key]}
    if changed:
        listed = ",".join(f"{key}={_brief(value)}" for key, value in changed.items())
        values |= {"id": f"{name}[{listed}]", **changed}
    return Protocol(**values)


def _module(name: str) -> Any:
    return import_module(f"{__name__}.{name.replace('-', '_')}")


def _brief(value: Any) -> str:
    """Write a value for a name: a text that is a whole template as its hash."""
    text = str(value)
    return text if len(text) <= LONGEST_NAMED else sha256(text.encode()).hexdigest()[:8]
