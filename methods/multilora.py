"""MultiLoRA: add several low-rank updates in parallel, each scaled by factors that are learnt.

    y = W x + sum_i s_i * (B_i A_i x)        i = 1 .. n

A_i of shape (r, in) and B_i of shape (out, r), both uniform as Kaiming: within 1 / sqrt(in) and
1 / sqrt(r). s_i of shape (out,) scales each output feature of module i, and is zero, so that
training starts at W with no factor of the product at zero. n (r (in + out) + out) parameters a
layer. All modules are computed by two matrix products. It can be merged.

Wang et al., 2023. MultiLoRA: Democratizing LoRA for Better Multi-Task Learning, arXiv 2311.11501.
There is no official code. What is open, and the choice made:

- A scaling factor per module or per output feature: per output feature, as in the implementation
  that the authors of MTL-LoRA (Yang et al., AAAI 2025) released as their baseline. That one also
  multiplies by alpha / r; here s is the only scale, as in the equation.
- n and r: n = 3 as in the scripts of MTL-LoRA, and r = 8, so that n r = 24 is the rank of `lora`.
  Layers: all linear ones, as for `lora`.

A module learns slowly at first, since A and B get gradients only once s has left zero.

Variant: `hycam-paper` (n = 5, r = 64). HyCAM (CIKM 2025) calls its baseline "multiple LoRA adapters
in parallel, enabling independent adaptation for different tasks" and releases no code of it; here
no module is tied to a task.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel

from methods.contract import Method
from methods.tuners.adapter import Adapter
from methods.tuners.config import NativeConfig, require
from methods.tuners.layers import targeted
from methods.tuners.linear import LinearTuner
from methods.tuners.peft_types import register


@dataclass
class MultiLoRAConfig(NativeConfig):
    """Hyperparameters of MultiLoRA.

    Attributes:
        n: Modules in parallel.
        r: Rank of each.
        target_modules: Names of the linear layers, or "all-linear".
    """

    peft_type = "MULTILORA"

    n: int = 3
    r: int = 8
    target_modules: set[str] | str = "all-linear"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "at least 1", lambda value: value >= 1, "n", "r")


class MultiLoRA(Adapter):
    """The updates of one layer.

    Attributes:
        A: Of all modules, (n, r, in).
        B: Of all modules, (out, n, r).
        s: Scaling factors, (out, n).
    """

    def __init__(self, linear: nn.Linear, config: MultiLoRAConfig) -> None:
        super().__init__()
        size, out, n, r = linear.in_features, linear.out_features, config.n, config.r
        if r > min(size, out):
            raise ValueError(f"r may be at most {min(size, out)} here, not {r}.")
        self.A = nn.Parameter(torch.empty(n, r, size).uniform_(-(size**-0.5), size**-0.5))
        self.B = nn.Parameter(torch.empty(out, n, r).uniform_(-(r**-0.5), r**-0.5))
        self.s = nn.Parameter(torch.zeros(out, n))

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., in) to the updates' sum (..., out)."""
        return functional.linear(functional.linear(x, self.A.flatten(0, 1)), self._scaled())

    def weight_update(self) -> Tensor:
        """Return the sum of s_i B_i A_i, (out, in)."""
        return self._scaled() @ self.A.flatten(0, 1)

    def _scaled(self) -> Tensor:
        """Put the s_i B_i side by side, (out, n r)."""
        return (self.s.unsqueeze(-1) * self.B).flatten(1)


class MultiLoRAModel(LinearTuner):
    """Puts a `MultiLoRA` beside every targeted linear layer."""

    adapter = MultiLoRA


register(MultiLoRAConfig, MultiLoRAModel)


def parameters(config: MultiLoRAConfig, model: PreTrainedModel) -> int:
    """Count n (r (in + out) + out) over the targeted layers."""
    layers = targeted(config, model).values()
    return config.n * sum(
        config.r * (layer.in_features + layer.out_features) + layer.out_features for layer in layers
    )


method = Method(
    title="MultiLoRA",
    paper="https://arxiv.org/abs/2311.11501",
    config=MultiLoRAConfig,
    parameters=parameters,
    mergeable=True,
    quantized=("nf4", "int8"),
    variants={"hycam-paper": {"n": 5, "r": 64}},
)
