"""Example: learn a low-rank update of each frozen linear layer, bent by tanh.

    y = W x + (alpha / r) B tanh(A x)

A of shape (r, in), uniform as Kaiming; B of shape (out, r), zero, so that training starts at W.
r (in + out) parameters a layer. The update depends on x, so it cannot be merged.

A start for a method of your own: change this text, `ExampleConfig` and `Example`.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel

from methods.contract import Method
from methods.tuners.adapter import Adapter
from methods.tuners.config import NativeConfig, require
from methods.tuners.layers import fits_rank, targeted
from methods.tuners.linear import LinearTuner
from methods.tuners.peft_types import register


@dataclass
class ExampleConfig(NativeConfig):
    """Hyperparameters; the command line sets them as in `example.py[r=4]`."""

    peft_type = "EXAMPLE"

    r: int = 8
    alpha: float = 16.0
    target_modules: set[str] | str = "all-linear"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "at least 1", lambda value: value >= 1, "r")


class Example(Adapter):
    """The update of one layer: parameters train, buffers do not."""

    def __init__(self, linear: nn.Linear, config: ExampleConfig) -> None:
        super().__init__()
        self.scale = config.alpha / config.r
        self.A = nn.Parameter(torch.empty(config.r, linear.in_features))
        self.B = nn.Parameter(torch.zeros(linear.out_features, config.r))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., in) to what is added to the layer's output (..., out)."""
        low = functional.linear(x, self.A)
        bent = torch.tanh(low)
        return self.scale * functional.linear(bent, self.B)


class ExampleModel(LinearTuner):
    """Puts `Example` beside every targeted linear layer."""

    adapter = Example
    not_mergeable = "the update depends on the input."


register(ExampleConfig, ExampleModel)


def parameters(config: ExampleConfig, model: PreTrainedModel) -> int:
    """Count r (in + out) over the targeted layers."""
    layers = targeted(config, model).values()
    return sum(config.r * (layer.in_features + layer.out_features) for layer in layers)


method = Method(
    title="Example",
    paper="a draft",
    config=ExampleConfig,
    parameters=parameters,
    mergeable=False,
    check=fits_rank,
)
