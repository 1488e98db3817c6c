"""The adapter at its lowest validation loss, which is the state that is saved and evaluated."""

from collections.abc import Mapping
from typing import Any

import torch
from peft import PeftModel
from torch import Tensor, nn

from harness.worker.training.engine import Engine


class Best:
    """Keeps the adapter, all that is saved of it, at the lowest validation loss.

    Attributes:
        live: The adapter as it trains; the tensors of the model.
        kept: The adapter at the lowest loss; empty before the first validation.
        rejected: States in a row that were offered since and were no better.
    """

    def __init__(self, model: PeftModel, engine: Engine) -> None:
        trained = {name for name, p in model.named_parameters() if p.requires_grad}
        prefix = str(model.base_model.prefix)
        # The tensors themselves, since ZeRO-3 has them elsewhere each time they are whole.
        every = model.state_dict(keep_vars=True)
        self.live = {n: t for n, t in every.items() if n in trained or prefix in n}
        self.parameters = [one for one in self.live.values() if isinstance(one, nn.Parameter)]
        self.engine = engine
        self.kept: dict[str, Tensor] = {}
        self.step, self.loss, self.rejected = 0, float("inf"), 0

    def offer(self, step: int, loss: float) -> None:
        """Keep the present adapter if its loss, a finite number, is the lowest."""
        self.rejected += 1
        if loss < self.loss:
            self.step, self.loss, self.rejected = step, loss, 0
            with self.engine.whole(self.parameters):
                self.kept = {name: one.detach().clone() for name, one in self.live.items()}

    def put_back(self) -> None:
        """Give the model the adapter of the lowest loss, whole on every rank."""
        self.engine.gather(self.parameters)
        self._put(self.kept)

    def state(self) -> dict[str, Any]:
        """Return both adapters, and what is known of the kept one."""
        known = {"step": self.step, "loss": self.loss, "rejected": self.rejected}
        with self.engine.whole(self.parameters):
            live = {name: one.detach().cpu() for name, one in self.live.items()}
        return {"live": live, "kept": self.kept, **known}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` returned."""
        with self.engine.whole(self.parameters, written=True):
            self._put(state["live"])
        self.kept = {name: one.to(self.live[name].device) for name, one in state["kept"].items()}
        self.step, self.loss, self.rejected = state["step"], state["loss"], state["rejected"]

    def _put(self, adapter: Mapping[str, Tensor]) -> None:
        with torch.no_grad():
            for name, tensor in self.live.items():
                tensor.copy_(adapter[name])
