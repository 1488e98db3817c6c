"""What an adapter of a native tuner is, and what the tuners have in common."""

from typing import Any, ClassVar

import torch
from peft.tuners.tuners_utils import BaseTuner, BaseTunerLayer
from torch import Tensor, nn


class Adapter(nn.Module):
    """The part of a method that sits on one layer.

    Trainable numbers are parameters; fixed ones are buffers, persistent where the trained adapter
    means nothing without them. (PEFT trains every parameter of an adapter, and casts them.)
    Parameters are made in float32, so that the adapter is float32 over a base in bfloat16 too.
    """

    @property
    def dtype(self) -> torch.dtype:
        """The precision in which the adapter computes: that of its parameters."""
        return next(self.parameters()).dtype

    def weight_update(self) -> Tensor:
        """Return the update (out, in) of the weight, for a method that can be merged."""
        raise NotImplementedError


def place(adapter: nn.Module, device: torch.device) -> nn.Module:
    """Move a new adapter to its layer's device, unless only its shape was asked for."""
    shape_only = any(parameter.is_meta for parameter in adapter.parameters())
    return adapter if shape_only else adapter.to(device)


class NativeLayer(nn.Module, BaseTunerLayer):
    """A frozen module, `base_layer`, and its adapters in `adapter_modules`, by name."""

    adapter_layer_names = ("adapter_modules",)

    def __init__(self, base_layer: nn.Module) -> None:
        super().__init__()
        self.base_layer = base_layer
        self.adapter_modules = nn.ModuleDict()

    def _move_adapter_to_device_of_base_layer(
        self, adapter_name: str, device: torch.device | None = None
    ) -> None:
        """Move an adapter that PEFT has filled by `low_cpu_mem_usage`, and leave its precision.

        PEFT would round it to the precision of the base, and finds no device where the base layer
        has no weight of its own, as an attention has not.
        """
        if adapter_name in self.adapter_modules:
            home = device or next(self.base_layer.parameters()).device
            place(self.adapter_modules[adapter_name], home)


class NativeTuner(BaseTuner):
    """A tuner whose layers keep their adapters in `adapter_modules`, by name."""

    prefix = "adapter_"
    target_module_mapping: dict[str, list[str]] = {}  # noqa: RUF012 (an attribute of PEFT's)
    not_mergeable: ClassVar[str] = ""
    """Why the adapter cannot be merged into the weights; empty if it can."""

    def adapters(self) -> dict[str, Any]:
        """List the active adapters by the name of their layer."""
        layers: dict[str, Any] = {
            name: layer
            for name, layer in self.model.named_modules()
            if isinstance(layer, BaseTunerLayer)
        }
        return {
            name: adapter
            for name, layer in layers.items()
            for called, adapter in layer.adapter_modules.items()
            if called in layer.active_adapters and isinstance(adapter, Adapter)
        }

    def _check_merge_allowed(self) -> None:
        super()._check_merge_allowed()  # type: ignore[no-untyped-call]
        if self.not_mergeable:
            raise ValueError(
                f"{type(self).__name__} cannot be merged: {self.not_mergeable} Keep the adapter, "
                "or take it off with `unload()`."
            )

    @classmethod
    def _remove_adapter_name_from_key(cls, key: str, adapter_name: str) -> str:
        # PEFT looks for the name at the end of a key, where ours have the parameter's.
        return key.replace(f"adapter_modules.{adapter_name}.", "adapter_modules.")
