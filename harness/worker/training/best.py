"""The adapter at its lowest validation loss, which is the state that is saved and evaluated."""

from collections.abc import Mapping
from typing import Any

import torch
from peft import PeftModel
from torch import Tensor


class Best:
    """Keeps the adapter, all that is saved of it, at the lowest validation loss.

    Attributes:
        live: The adapter as it trains; the tensors of the model.
        kept: The adapter at the lowest loss; empty before the first validation.
        rejected: States in a row that were offered since and were no better.
    """

    def __init__(self, model: PeftModel) -> None:
        trained = {name for name, p in model.named_parameters() if p.requires_grad}
        prefix = str(model.base_model.prefix)
        self.live = {n: t for n, t in model.state_dict().items() if n in trained or prefix in n}
        self.kept: dict[str, Tensor] = {}
        self.step, self.loss, self.rejected = 0, float("inf"), 0

    def offer(self, step: int, loss: float) -> None:
        """Keep the present adapter if its loss, a finite number, is the lowest."""
        self.rejected += 1
        if loss < self.loss:
            self.step, self.loss, self.rejected = step, loss, 0
            self.kept = {name: tensor.clone() for name, tensor in self.live.items()}

    def put_back(self) -> None:
        """Give the model the adapter of the lowest loss."""
        self._put(self.kept)

    def state(self) -> dict[str, Any]:
        """Return both adapters, and what is known of the kept one."""
        known = {"step": self.step, "loss": self.loss, "rejected": self.rejected}
        return {"live": self.live, "kept": self.kept, **known}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` returned."""
        self._put(state["live"])
        self.kept = {name: one.to(self.live[name].device) for name, one in state["kept"].items()}
        self.step, self.loss, self.rejected = state["step"], state["loss"], state["rejected"]

    def _put(self, adapter: Mapping[str, Tensor]) -> None:
        with torch.no_grad():
            for name, tensor in self.live.items():
                tensor.copy_(adapter[name])
