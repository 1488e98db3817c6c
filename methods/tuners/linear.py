"""Adapters beside a frozen linear layer: y = W x + (what the adapter makes of x)."""

from typing import Any, ClassVar

from peft import PeftConfig
from torch import Tensor, nn

from methods.tuners.adapter import Adapter, NativeLayer, NativeTuner, place


class LinearLayer(NativeLayer):
    """A frozen `nn.Linear` and the adapters beside it.

    Attributes:
        adapter_modules: One adapter per name; each maps the layer's input (..., in) to what is
            added to its output (..., out), and has its trainable numbers as parameters and its
            fixed ones as buffers.
    """

    base_layer: nn.Linear

    def __init__(self, base_layer: nn.Linear) -> None:
        super().__init__(base_layer)
        self.in_features, self.out_features = base_layer.in_features, base_layer.out_features
        self.merged_adapters: list[str] = []

    def update_layer(self, name: str, adapter: Adapter) -> None:
        """Add an adapter and train it."""
        self.adapter_modules[name] = place(adapter, self.base_layer.weight.device)
        self.set_adapter(self.active_adapters)

    def forward(self, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Map (..., in) to (..., out)."""
        if self.disable_adapters and self.merged:
            self.unmerge()
        y: Tensor = self.base_layer(x, *args, **kwargs)
        if self.disable_adapters or self.merged:
            return y
        for name in self.active_adapters:
            if name in self.adapter_modules:
                adapter: Any = self.adapter_modules[name]
                y = y + adapter(x.to(adapter.dtype)).to(y.dtype)
        return y

    def merge(self, safe_merge: bool = False, adapter_names: list[str] | None = None) -> None:
        """Add the updates to the frozen weight; with `safe_merge` refuse what is not finite."""
        for name in adapter_names or self.active_adapters:
            if name not in self.adapter_modules or name in self.merged_adapters:
                continue
            weight = self.base_layer.weight.data
            merged = weight + self._update(name).to(weight.dtype)
            if safe_merge and not merged.isfinite().all():
                raise ValueError(f"The update of adapter {name} is not finite; it is not merged.")
            self.base_layer.weight.data = merged
            self.merged_adapters.append(name)

    def unmerge(self) -> None:
        """Take the merged updates off again."""
        while self.merged_adapters:
            weight = self.base_layer.weight.data
            weight -= self._update(self.merged_adapters.pop()).to(weight.dtype)

    def _update(self, name: str) -> Tensor:
        adapter: Any = self.adapter_modules[name]
        update: Tensor = adapter.weight_update()
        return update


class LinearTuner(NativeTuner):
    """Puts an adapter beside every targeted linear layer.

    A method names its `adapter`: the module, built from (base layer, configuration).
    """

    tuner_layer_cls = LinearLayer
    adapter: ClassVar[type[Adapter]]

    def _create_and_replace(  # noqa: PLR0913, PLR0917 (the signature is PEFT's)
        self,
        peft_config: PeftConfig,
        adapter_name: str,
        target: nn.Module,
        target_name: str,
        parent: nn.Module,
        current_key: str,
        parameter_name: str | None = None,
    ) -> None:
        linear: Any = target.base_layer if isinstance(target, LinearLayer) else target
        if not isinstance(linear, nn.Linear):
            raise TypeError(f"{current_key}: {type(linear).__name__} is not a linear layer.")
        try:
            adapter = self.adapter(linear, peft_config)
        except ValueError as error:
            raise ValueError(f"{current_key}: {error}") from error
        if not isinstance(target, LinearLayer):
            target = LinearLayer(linear)
            setattr(parent, target_name, target)
        target.update_layer(adapter_name, adapter)
