"""Trained copies of frozen modules: norms beside an adapter, or every module of the model."""

import copy
from typing import Any

import torch
from torch import nn
from torch.func import functional_call

from methods.tuners.adapter import NativeLayer


class CopyLayer(NativeLayer):
    """A frozen module and trained copies of it, of which the active one is used instead.

    A copy is float32 and computes in the precision of the frozen module: its weights are cast in
    each forward pass, so that small steps are not lost over a base in bfloat16. What the model
    reads of the module without calling it, such as `lm_head.weight`, is read from the one in use.
    """

    trains_a_copy = True

    def __init__(self, base_layer: nn.Module) -> None:
        super().__init__(base_layer)
        self.merged_adapters: list[str] = []
        self._frozen = (base_layer,)  # in a tuple, so that it is no second child

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

    @property
    def in_use(self) -> nn.Module:
        """The active copy, or the frozen module where no copy is active."""
        names = [name for name in self.active_adapters if name in self.adapter_modules]
        trained = bool(names) and not self.disable_adapters and not self.merged
        return self.adapter_modules[names[0]] if trained else self.base_layer

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute what the module in use computes."""
        module, frozen = self.in_use, self.base_layer.parameters()
        cast = {
            name: parameter.to(like.dtype)
            for (name, parameter), like in zip(module.named_parameters(), frozen, strict=True)
            if parameter.dtype != like.dtype
        }
        return functional_call(module, cast, args, kwargs) if cast else module(*args, **kwargs)

    @property
    def weight(self) -> Any:
        """The weight of the module in use, in the precision of the frozen one."""
        return self._read("weight")

    @property
    def bias(self) -> Any:
        """The bias of the module in use, in the precision of the frozen one."""
        return self._read("bias")

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name in {"base_layer", "adapter_modules"}:
                raise
            return self._read(name)

    def _read(self, name: str) -> Any:
        value = getattr(self.in_use, name)
        if isinstance(value, nn.Parameter):
            return value.to(getattr(self.base_layer, name).dtype)
        return value

    def merge(self, safe_merge: bool = False, adapter_names: list[str] | None = None) -> None:
        """Compute with a frozen module that has the values of the copy, until `unmerge`.

        It is a third module beside the frozen one and the copy, and spares casting the copy in each
        forward pass. Parameters that are shared are not shared in it.

        Raises:
            ValueError: The copy is not finite and `safe_merge` is set.
        """
        for name in adapter_names or self.active_adapters:
            if name in self.adapter_modules and not self.merged:
                self.base_layer = self._filled(copy.deepcopy(self.base_layer), name, safe_merge)
                self.merged_adapters.append(name)

    def unmerge(self) -> None:
        """Take the frozen module itself again."""
        (self.base_layer,) = self._frozen
        self.merged_adapters.clear()

    def enable_adapters(self, enabled: bool) -> None:
        """Switch the copies on or off; switched off, a merged one is taken off."""
        if not enabled:
            self.unmerge()
        super().enable_adapters(enabled)

    def _filled(self, module: nn.Module, name: str, safe_merge: bool) -> nn.Module:
        """Give `module` the weights of the copy `name`."""
        trained = self.adapter_modules[name]
        if safe_merge and not all(p.isfinite().all() for p in trained.parameters()):
            raise ValueError(f"The copy {name} is not finite; it is not merged.")
        module.load_state_dict(trained.state_dict())
        return module

    def unload_and_optionally_merge_module(
        self, merge: bool, safe_merge: bool, adapter_names: list[str] | None
    ) -> nn.Module:
        """Return the frozen module; with `merge` it takes the weights of the copy.

        Raises:
            ValueError: The copy is not finite and `safe_merge` is set.
        """
        self.unmerge()
        for name in adapter_names or self.active_adapters:
            if merge and name in self.adapter_modules:
                self._filled(self.base_layer, name, safe_merge)
        return self.base_layer


def share_again(model: nn.Module) -> None:
    """Let copies share the parameters that the frozen modules share.

    Loading by assignment, as under PEFT's `low_cpu_mem_usage`, gives each its own.
    """
    first: dict[tuple[str, int], nn.Parameter] = {}
    layers = [module for module in model.modules() if isinstance(module, CopyLayer)]
    for layer in layers:
        frozen = list(layer.base_layer.named_parameters(remove_duplicate=False))
        for name, trained in layer.adapter_modules.items():
            for path, original in frozen:
                own = trained.get_parameter(path)
                owner, _, leaf = path.rpartition(".")
                shared = first.setdefault((name, id(original)), own)
                setattr(trained.get_submodule(owner), leaf, shared)


def _trained_copy(module: nn.Module, memo: dict[int, Any]) -> nn.Module:
    for parameter in module.parameters():
        if id(parameter) not in memo:
            memo[id(parameter)] = nn.Parameter(parameter.detach().to(torch.float32, copy=True))
    return copy.deepcopy(module, memo)
