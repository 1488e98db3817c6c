"""Trained copies of frozen modules: norms beside an adapter, or every module of the model."""

import copy
from typing import Any

import torch
from peft.tuners.tuners_utils import BaseTunerLayer
from torch import nn
from torch.func import functional_call


class CopyLayer(nn.Module, BaseTunerLayer):
    """A frozen module and trained copies of it, of which the active one is used instead.

    A copy is float32 and computes in the precision of the frozen module: its weights are cast in
    each forward pass, so that small steps are not lost over a base in bfloat16.
    """

    adapter_layer_names = ("adapter_modules",)
    trains_a_copy = True

    def __init__(self, base_layer: nn.Module) -> None:
        super().__init__()
        self.base_layer = base_layer
        self.adapter_modules = nn.ModuleDict()

    @classmethod
    def put(
        cls, name: str, target: nn.Module, child: str, parent: nn.Module, memo: dict[int, Any]
    ) -> None:
        """Replace `parent.child` by a layer with a copy called `name`.

        Modules that share a parameter share its copy if they are put with one `memo`.
        """
        layer = target if isinstance(target, cls) else cls(target)
        layer.adapter_modules[name] = _trained_copy(layer.base_layer, memo)
        layer.set_adapter(layer.active_adapters)
        setattr(parent, child, layer)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute what the active copy computes."""
        names = [name for name in self.active_adapters if name in self.adapter_modules]
        if self.disable_adapters or not names:
            return self.base_layer(*args, **kwargs)
        trained = self.adapter_modules[names[0]]
        dtype = next(self.base_layer.parameters()).dtype
        weights = {key: value.to(dtype) for key, value in trained.named_parameters()}
        return functional_call(trained, weights, args, kwargs)

    def merge(self, safe_merge: bool = False, adapter_names: list[str] | None = None) -> None:
        """Let the copy's weights take the place of the frozen ones."""
        for name in adapter_names or self.active_adapters:
            if name in self.adapter_modules:
                self.base_layer.load_state_dict(self.adapter_modules[name].state_dict())


def _trained_copy(module: nn.Module, memo: dict[int, Any]) -> nn.Module:
    copied = copy.deepcopy(module, memo)
    for owner in copied.modules():
        for key, parameter in list(owner.named_parameters(recurse=False)):
            if parameter.dtype != torch.float32:
                single = memo.setdefault(id(parameter), nn.Parameter(parameter.detach().float()))
                setattr(owner, key, single)
    return copied
