"""Facts that a plan asks for, worked out with torch as JSON values; `facts.py` keeps them."""

from dataclasses import asdict
from typing import Any

from harness import plugins
from harness.planning import prompts
from harness.planning.facts import MethodFacts
from harness.planning.footprint import parameters
from harness.planning.methods import complete
from harness.planning.parse import MethodRequest
from harness.spec.planned import Located
from harness.spec.protocol import Protocol
from harness.spec.spec import MethodSpec


def method(request: MethodRequest) -> dict[str, Any]:
    """Complete a method, and say of it what a plan asks; the fields of `MethodFacts`."""
    spec, plugin = complete(request), plugins.method(request.name)
    return MethodFacts(
        spec=spec,
        title=plugin.title,
        variants=tuple(plugin.variants),
        trains=plugin.trains,
        zero_safe=plugin.zero_safe,
        mergeable=plugin.mergeable,
        quantized=plugin.quantized,
    ).model_dump(mode="json")


def count(spec: MethodSpec, place: Located) -> dict[str, Any]:
    """Count parameters on a backbone in shapes; the fields of `parameters.Count`."""
    with parameters.counting():
        return asdict(parameters.count(spec, place))


def takes_chat(place: Located, protocol: Protocol) -> None:
    """Check that a tokenizer's chat template takes the messages of a protocol."""
    prompts.takes_chat(place, protocol)
