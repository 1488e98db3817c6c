"""DoRA: learn the direction of each weight's rows by LoRA, and their lengths apart from it.

    V = W + (alpha / r) B A                  direction
    y = (m / |V|) (V x) + bias               |V| of shape (out,): the norm of each row

A of shape (r, in), uniform as Kaiming; B of shape (out, r), zero; m of shape (out,), the norms of
the rows of W, so that training starts at W (up to rounding, since m / |W| is computed).
r (in + out) + out parameters a layer.

Liu et al., 2024. DoRA: Weight-Decomposed Low-Rank Adaptation, section 4.1. The tuner is PEFT's
LoRA with `use_dora`. Of PEFT:

- |V| is a constant to the gradient, as section 4.3 of the paper proposes.
- A row is what makes one output; the paper writes the transposed matrix and speaks of columns.
- Each forward pass multiplies B A out to take the norms, which an evaluation keeps. PEFT
  multiplies it with a unit matrix of the size of the inputs for that, and so needs another matrix
  in float32 of that size. Importing this file puts the product in its place, for each LoRA with
  `use_dora`.

The configuration is that of the RoSA paper's baseline, r = 16 on all linear layers; alpha is left
at PEFT's default of 8. The DyPAM paper has no DoRA.

Variants: `rosa-paper`.
"""

from functools import partial
from typing import Any

import torch
from peft import LoraConfig
from peft.tuners.lora import variants
from peft.tuners.lora.dora import DoraLinearLayer
from torch import Tensor, nn
from torch.nn.functional import linear
from transformers import PreTrainedModel

from methods.contract import Method
from methods.tuners.formed import Formed
from methods.tuners.layers import fits_rank, targeted


class RowLengths(DoraLinearLayer):
    """PEFT's magnitudes of one layer, `weight`, with the norms |V| taken without a unit matrix."""

    def __init__(self, fan_in_fan_out: bool) -> None:
        super().__init__(fan_in_fan_out)  # type: ignore[no-untyped-call]
        self.formed = Formed()

    def forward(self, x: Tensor, **given: Any) -> Tensor:
        """Return what DoRA adds to the base layer's output of x, (..., out)."""
        if type(given["base_layer"]) is nn.Linear:
            return self._added(x, **given)
        added: Tensor = super().forward(x, **given)  # type: ignore[no-untyped-call]
        return added

    def _added(  # noqa: PLR0913 (PEFT passes them)
        self,
        x: Tensor,
        *,
        lora_A: Any,  # noqa: N803
        lora_B: Any,  # noqa: N803
        scaling: float,
        base_layer: nn.Linear,
        base_result: Tensor | None = None,
        adapter_name: str = "default",
    ) -> Tensor:
        """Use the base layer's output, `base_result`; it is None where x lost a part to dropout."""
        w, a, b = base_layer.weight, lora_A.weight, lora_B.weight
        with torch.no_grad():
            norms = self.formed(partial(_norms, scaling, x.dtype), w, a, b)
        factor = self.weight / norms
        if base_result is None:
            base_result = linear(x, w.to(x.dtype))
        elif base_layer.bias is not None:
            base_result = base_result - base_layer.bias
        added: Tensor = (factor - 1) * base_result + factor * lora_B(lora_A(x)) * scaling
        return added


def _norms(scaling: float, dtype: torch.dtype, w: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """Return |W + (alpha / r) B A|, (out,)."""
    v = w.to(dtype) + scaling * linear(a.T, b).T.to(dtype)
    norms: Tensor = torch.linalg.norm(v, dim=1)
    return norms


variants.DoraLinearLayer = RowLengths  # type: ignore[attr-defined]


def parameters(config: LoraConfig, model: PreTrainedModel) -> int:
    """Count r (in + out) + out over the targeted layers."""
    layers = targeted(config, model).values()
    return sum(config.r * (layer.in_features + layer.out_features) for layer in layers) + sum(
        layer.out_features for layer in layers
    )


method = Method(
    title="DoRA",
    paper="https://arxiv.org/abs/2402.09353",
    config=LoraConfig,
    defaults={"r": 16, "target_modules": "all-linear", "use_dora": True},
    parameters=parameters,
    mergeable=True,
    quantized=("nf4",),
    check=fits_rank,
    variants={"rosa-paper": {}},
)
