"""Immutable values whose stored form is canonical, so that a hash of it names them."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer


class Value(BaseModel):
    """An immutable value; unknown fields are an error.

    A field made by `later` is written only while it differs from its default. So a field that a
    later version adds, with a default that means "as before", changes no hash of an earlier value.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_serializer(mode="wrap")
    def _written(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        written: dict[str, Any] = write(self)
        for name, field in type(self).model_fields.items():
            extra = field.json_schema_extra
            added_later = isinstance(extra, dict) and extra.get("later")
            if added_later and getattr(self, name) == field.default:
                written.pop(name, None)
        return written

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
