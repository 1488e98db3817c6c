"""Immutable values whose stored form is canonical, so that a hash of it names them."""

import json
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer


class Value(BaseModel):
    """An immutable value; unknown fields are an error.

    A field made by `later` is written only while it differs from its default. So a field that a
    later version adds, with a default that means "as before", changes no hash of an earlier value.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    NAMES: ClassVar[frozenset[str]] = frozenset()
    """Fields by which people call it: they change no number, so no hash takes them."""

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        for name in self.unwritten():
            written.pop(name, None)
        return written

    def unwritten(self) -> Iterator[str]:
        """List the fields made by `later` that have their default."""
        for name, field in type(self).model_fields.items():
            extra = field.json_schema_extra
            added_later = isinstance(extra, dict) and extra.get("later")
            if added_later and getattr(self, name) == field.default:
                yield name

    @cached_property
    def _canonical(self) -> str:
        """What a hash takes of it: its stored form without names, as one line of JSON."""
        return canonical(self.model_dump(mode="json", exclude=set(self.NAMES)))

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Copy the fields, but not what was worked out from them: an update may change it."""
        copied = super().model_copy(update=update, deep=deep)
        for name in vars(copied).keys() - type(self).model_fields.keys():
            del vars(copied)[name]
        return copied

    def differing(self, usual: "Value") -> dict[str, Any]:
        """List the fields in which this differs from another value of its class, as JSON values."""
        differ = {
            name for name in type(self).model_fields if getattr(self, name) != getattr(usual, name)
        }
        written = self.model_dump(mode="json", include=differ)
        # A field of `later` that means "as before" is not written, but may differ all the same.
        return {name: written.get(name, getattr(self, name)) for name in sorted(differ)}


def later(default: Any, **bounds: Any) -> Any:
    """Declare a field that was added after values of its class had been hashed and stored.

    Args:
        default: The value that means "as before".
        bounds: Passed on to pydantic's `Field`, such as `ge=1`.
    """
    return Field(default, json_schema_extra={"later": True}, **bounds)


def canonical(part: Any) -> str:
    """Write a value or a JSON value as one line of JSON, its keys in order, without spaces."""
    if isinstance(part, Value):
        return part._canonical
    if isinstance(part, dict):
        items = (f"{WRITER.encode(name)}:{canonical(part[name])}" for name in sorted(part))
        return f"{{{','.join(items)}}}"
    return WRITER.encode(part)


WRITER = json.JSONEncoder(sort_keys=True, separators=(",", ":"))
