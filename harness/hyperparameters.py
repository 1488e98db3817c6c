"""Checking and completing the fields that a user set on a method."""

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from harness import plugins
from harness.errors import UserError, unknown
from harness.request import MethodRequest
from harness.spec import MethodSpec
from methods.base import NOT_HYPERPARAMETERS, Method, hyperparameters


def complete(request: MethodRequest) -> MethodSpec:
    """Resolve a request to a method with all its fields.

    Raises:
        UserError: A field does not exist, or holds what it cannot.
    """
    method = plugins.method(request.name)
    faults = [fault for name in request.overrides if (fault := _fault(request, method, name))]
    if faults:
        raise UserError("\n".join(faults))
    plain = _as_json(hyperparameters(method.configure()))
    try:
        chosen = _as_json(hyperparameters(method.configure(**request.overrides)))
    except (TypeError, ValueError) as error:
        raise UserError(f"{request.name}: {error}") from error
    return MethodSpec(
        name=request.name,
        label=_label(request.name, {k: v for k, v in chosen.items() if v != plain[k]}),
        fields=chosen,
        source=plugins.source_hash(request.name),
    )


def settable(method: Method) -> list[str]:
    """List the fields of a method that a user can set."""
    names = (field.name for field in fields(method.config) if field.init)
    return sorted(name for name in names if name not in NOT_HYPERPARAMETERS)


def _fault(request: MethodRequest, method: Method, name: str) -> str:
    if name not in settable(method):
        return unknown(f"field of {request.name}", name, settable(method))
    hint, value = get_type_hints(method.config)[name], request.overrides[name]
    try:
        TypeAdapter(hint, config=ConfigDict(arbitrary_types_allowed=True)).validate_python(value)
    except ValidationError as error:
        return f"{request.name}: field {name}: {error.errors()[0]['msg']}, not {value!r}."
    return ""


def _label(name: str, changed: Mapping[str, Any]) -> str:
    parts = (f"{key}={_written(value)}" for key, value in sorted(changed.items()))
    return f"{name}[{','.join(parts)}]" if changed else name


def _written(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _as_json(values: dict[str, Any]) -> dict[str, Any]:
    """Write sets as sorted lists and enumerations as text, as a spec holds them."""
    written = json.dumps(values, default=lambda v: sorted(v) if isinstance(v, set) else str(v))
    decoded: dict[str, Any] = json.loads(written)
    return decoded
