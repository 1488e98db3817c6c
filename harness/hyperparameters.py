"""Checking and completing the fields that a user set on a method."""

import json
from collections.abc import Mapping
from typing import Any, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from harness import plugins
from harness.errors import UserError, unknown
from harness.request import MethodRequest
from harness.spec import MethodSpec
from methods.base import hyperparameters


def complete(request: MethodRequest) -> MethodSpec:
    """Resolve a request to a method with all its fields.

    Raises:
        UserError: A field does not exist, or holds what it cannot.
    """
    method = plugins.method(request.name)
    plain = _as_json(hyperparameters(method.configure()))
    hints, faults, overrides = get_type_hints(method.config), [], {}
    for name, value in request.overrides.items():
        if name not in plain:
            faults.append(unknown(f"field of {request.name}", name, plain))
            continue
        try:
            overrides[name] = _typed(hints[name], value)
        except ValidationError as error:
            why = error.errors()[0]["msg"]
            faults.append(f"{request.name}: field {name}: {why}, not {value!r}.")
    if faults:
        raise UserError("\n".join(faults))
    try:
        chosen = _as_json(hyperparameters(method.configure(**overrides)))
    except (TypeError, ValueError) as error:
        raise UserError(f"{request.name}: {error}") from error
    return MethodSpec(
        name=request.name,
        label=_label(request.name, {k: v for k, v in chosen.items() if v != plain[k]}),
        fields=chosen,
        source=plugins.source_hash(request.name),
    )


def _typed(hint: Any, value: Any) -> Any:
    """Read a value as its field's type says: 24, 24.0 and "24" are one rank, and true is none."""
    adapter: TypeAdapter[Any] = TypeAdapter(
        hint, config=ConfigDict(arbitrary_types_allowed=True, allow_inf_nan=False)
    )
    return adapter.validate_python(value, strict=isinstance(value, bool))


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
