"""Checking and completing the fields that a user set on a method."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from harness import plugins
from harness.errors import UserError, unknown
from harness.planning.parse import RECIPE, MethodRequest
from harness.plugins.source import source_hash
from harness.spec.recipe import SHARED, Recipe
from harness.spec.spec import MethodSpec
from methods.contract import Method, hyperparameters
from methods.training.layer_selection import LayerSelection

DLS = "dls"
"""Dynamic layer selection, a field that every method has beside those of its configuration."""


def complete(request: MethodRequest) -> MethodSpec:
    """Resolve a request to a method with all its fields.

    Raises:
        UserError: A variant or a field does not exist, or a field holds what it cannot.
    """
    method = plugins.method(request.name)
    if request.variant is not None and request.variant not in method.variants:
        named = f"{request.name}:{request.variant}"
        known = [f"{request.name}:{variant}" for variant in method.variants]
        raise UserError(unknown("variant", named, known or ["none"]))
    variant = method.variants[request.variant] if request.variant else {}
    base = _all_fields(request.name, variant)
    overrides = _checked(request, method, base)
    chosen = _all_fields(request.name, {**variant, **overrides})
    name = f"{request.name}:{request.variant}" if request.variant else request.name
    return MethodSpec(
        name=request.name,
        label=_label(name, base, chosen),
        fields=chosen,
        source=source_hash(request.name, selects_layers=bool(chosen.get(DLS))),
    )


def _checked(request: MethodRequest, method: Method, known: Iterable[str]) -> dict[str, Any]:
    """Read the values that the user set as the types of their fields; all faults at once."""
    own = get_type_hints(method.config) if method.config else {}
    hints = {**own, DLS: bool | dict[str, Any]}
    faults, overrides = [], {}
    for name, value in request.overrides.items():
        if name not in known:
            recipe = [RECIPE + one for one in Recipe.model_fields if one not in SHARED]
            faults.append(unknown(f"field of {request.name}", name, known, also=recipe))
            continue
        try:
            overrides[name] = _typed(hints[name], value)
        except ValidationError as error:
            why = error.errors()[0]["msg"]
            faults.append(f"{request.name}: field {name}: {why}, not {value!r}.")
            continue
        if isinstance(value, int | float) and value < 0:
            faults.append(f"{request.name}: field {name}: not {value}, it cannot be negative.")
    if faults:
        raise UserError("\n".join(faults))
    return overrides


def _all_fields(name: str, overrides: Mapping[str, Any]) -> dict[str, Any]:
    method = plugins.method(name)
    if not method.trains:
        return {}
    try:
        selection = method.layer_selection(overrides)
        values = hyperparameters(method.configure(**overrides))
    except (TypeError, ValueError) as error:
        raise UserError(f"{name}: {error}") from error
    return _as_json({**values, DLS: asdict(selection) if selection else False})


def _typed(hint: Any, value: Any) -> Any:
    """Coerce a value to its field's type: 24, 24.0 and "24" are one rank; true is no integer."""
    adapter: TypeAdapter[Any] = TypeAdapter(
        hint, config=ConfigDict(arbitrary_types_allowed=True, allow_inf_nan=False)
    )
    return adapter.validate_python(value, strict=isinstance(value, bool))


def _label(name: str, base: Mapping[str, Any], chosen: Mapping[str, Any]) -> str:
    """Write what differs from the plain method or the variant that was asked for."""
    changed = {key: value for key, value in chosen.items() if value != base[key]}
    parts = ",".join(f"{key}={_written(key, changed[key])}" for key in sorted(changed))
    return f"{name}[{parts}]" if changed else name


def _written(key: str, value: Any) -> str:
    if key == DLS and value:
        usual = asdict(LayerSelection())
        value = {name: one for name, one in value.items() if one != usual[name]} or True
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _as_json(values: dict[str, Any]) -> dict[str, Any]:
    """Write sets as sorted lists and enumerations as text, as a spec holds them."""
    written = json.dumps(values, default=lambda v: sorted(v) if isinstance(v, set) else str(v))
    decoded: dict[str, Any] = json.loads(written)
    return decoded
