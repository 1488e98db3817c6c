"""The adapter at its lowest validation loss, which is the state that is saved and evaluated."""

import torch
from peft import PeftModel
from torch import Tensor


class Best:
    """Keeps the adapter, all that is saved of it, at the lowest validation loss.

    Attributes:
        rejected: States in a row that were offered since and were no better.
    """

    def __init__(self, model: PeftModel) -> None:
        trained = {name for name, p in model.named_parameters() if p.requires_grad}
        prefix = str(model.base_model.prefix)
        self.live = {n: t for n, t in model.state_dict().items() if n in trained or prefix in n}
        self.state: dict[str, Tensor] = {}
        self.step, self.loss, self.rejected = 0, float("inf"), 0

    def offer(self, step: int, loss: float) -> None:
        """Keep the present state if its loss, a finite number, is the lowest."""
        self.rejected += 1
        if loss < self.loss:
            self.step, self.loss, self.rejected = step, loss, 0
            self.state = {name: tensor.clone() for name, tensor in self.live.items()}

    def restore(self) -> None:
        """Put the kept state back."""
        with torch.no_grad():
            for name, tensor in self.live.items():
                tensor.copy_(self.state[name])
