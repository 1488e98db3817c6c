"""A backbone in shapes alone, with one layer of each kind: what it takes to count parameters."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.nn import init
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors
from transformers import AutoModelForCausalLM, PreTrainedModel


class ShapesOnly(TorchFunctionMode):
    """Makes tensors on the meta device and leaves out the start values, which have no effect there.

    Like `torch.device("meta")`, in less time: on that device torch works out the shapes of start
    values in Python.
    """

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call a function of torch, or give back the tensor that it would fill."""
        given = kwargs or {}
        if func in FILLS:
            return args[0] if args else given["tensor"]
        if func in CONSTRUCTORS and given.get("device") is None:
            return func(*args, **{**given, "device": "meta"})
        return func(*args, **given)


CONSTRUCTORS = frozenset(_device_constructors())
FILLS = frozenset({init.uniform_, init.normal_, init.constant_, init.kaiming_uniform_}) | {
    *(Tensor.uniform_, Tensor.normal_, Tensor.zero_, Tensor.fill_)
}
"""What sets start values in place, as far as torch asks a mode first."""


def whole(config: Any) -> PreTrainedModel:
    """Build the model that a configuration of transformers describes, in shapes."""
    with ShapesOnly():
        model: PreTrainedModel = AutoModelForCausalLM.from_config(config)
    return model


@dataclass(frozen=True)
class Skeleton:
    """A model in shapes that has one layer of each kind.

    Attributes:
        model: The model; to adapt it, copy the skeleton first.
        more: Its layers with the number of equal ones that were left out.
    """

    model: PreTrainedModel
    more: tuple[tuple[nn.Module, int], ...]


def skeleton(config: Any) -> Skeleton:
    """Build a model in shapes and leave out every layer that prints as one before it does.

    Adapting costs time per layer, and a layer of a kind gets what any other gets.
    """
    model = whole(config)
    more: list[tuple[nn.Module, int]] = []
    for name, layers in list(_stacks(model)):
        kinds = Counter(map(repr, layers))
        first = {repr(layer): layer for layer in reversed(layers)}
        model.set_submodule(name, nn.ModuleList(first[kind] for kind in kinds))
        more += [(first[kind], times - 1) for kind, times in kinds.items()]
    return Skeleton(model, tuple(more))


def _stacks(model: nn.Module, prefix: str = "") -> Iterator[tuple[str, nn.ModuleList]]:
    """Find the lists of layers, but for those within a layer."""
    for name, module in model.named_children():
        if isinstance(module, nn.ModuleList):
            yield prefix + name, module
        else:
            yield from _stacks(module, f"{prefix}{name}.")
