"""What several layers make of the same input, made once: q, k and v are given one tensor."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from methods.tuners.adapter import Adapter, NativeTuner


class Shared:
    """Holds what was made of the latest input, for the layers that are given it.

    A layer that asks for the same a second time begins another pass, and gets it made anew: the
    graph of the first pass may be gone. An input that was changed in place is another one, except
    in inference mode, where torch does not count changes.

    When a forward pass of the tuner ends, everything is let go. What gradient checkpointing makes
    again in the backward pass, or `generate` in a pass of the inner model, is held until the next
    input. A copy of a layer starts empty.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Let everything go."""
        self._state: tuple[Any, ...] | None = None
        self._made: dict[Any, tuple[Any, list[nn.Module]]] = {}

    def get(self, layer: nn.Module, x: Tensor, make: Callable[..., Any], *args: Any) -> Any:
        """Return make(x, *args) for one of the layers that share it."""
        self._begin(x)
        key = make, args
        made: Any
        made, layers = self._made.get(key, (None, [layer]))
        if any(one is layer for one in layers):
            made, layers = make(x, *args), []
            self._made[key] = made, layers
        layers.append(layer)
        return made

    def _begin(self, x: Tensor) -> None:
        version = None if x.is_inference() else x._version
        state = version, torch.is_grad_enabled()
        if self._state is None or self._state[0] is not x or self._state[1] != state:
            self._state, self._made = (x, state), {}

    def __getstate__(self) -> dict[str, Any]:
        return {"_state": None, "_made": {}}


class SharingTuner(NativeTuner):
    """A tuner whose adapters share what they make of an input, by their attribute `shared`."""

    shared: Shared | None = None

    def inject_adapter(self, model: nn.Module, *args: Any, **kwargs: Any) -> None:
        """Put an adapter on the model."""
        super().inject_adapter(model, *args, **kwargs)
        self.shared = self.shared or Shared()
        for adapter in model.modules():
            if isinstance(adapter, Adapter):
                adapter.shared = self.shared  # type: ignore[assignment]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output, and hold nothing of the pass when it has ended."""
        try:
            return super().forward(*args, **kwargs)
        finally:
            if self.shared:
                self.shared.clear()
