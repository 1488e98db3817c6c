"""SHiRA: train a few entries of each frozen weight, at random places.

    y = (W + D) x + bias

D of shape (out, in) is zero but at r (in + out) places, which hold the trained numbers. They are
zero too, so that training starts at W. r (in + out) parameters a layer, as many as LoRA of rank r;
the rank of D is not bounded by r.

Bhardwaj et al., 2024. Sparse High Rank Adapters, section 3. The tuner is PEFT's, which has the
paper's random mask and not the masks that look at weights or gradients. Of PEFT:

- The places are saved with the adapter. They are drawn from `random_seed`, which is fixed here, so
  that they do not hang on a default of torch; layers of one shape share them, and they are drawn
  once for a shape.
- W + D is formed in the precision of the base: over a base in bfloat16, entries of D that are small
  beside those of W are rounded away from the output. Training forms it in the forward and again in
  the backward pass, where PEFT holds it in between. An evaluation keeps it, as large as the
  weights.

The configuration is that of the DyPAM paper's baseline: r = 24 on all linear layers, as its
parameter percentages imply. PEFT's default is 32. The RoSA paper has no SHiRA.

Variants: `dypam-paper`, and `small` (r = 8).
"""

import math
from copy import copy
from functools import partial
from typing import Any

import torch
from peft import PeftType, ShiraConfig, ShiraModel
from peft.mapping import PEFT_TYPE_TO_TUNER_MAPPING
from peft.tuners.shira import layer as peft_layer
from peft.tuners.shira import mask_functions
from peft.tuners.shira import model as peft_model
from torch import Tensor, nn
from transformers import PreTrainedModel

from methods.contract import Method
from methods.tuners.formed import Formed
from methods.tuners.layers import targeted
from methods.tuners.places import drawn


class SparseLinear(peft_layer.Linear):
    """PEFT's layer, which forms W + D again for the gradient."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.formed = Formed()

    def forward(self, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Map (..., in) to (..., out)."""
        base: Any = self.base_layer
        if self.disable_adapters or self.merged or self.quantization_backend:
            y: Tensor = super().forward(x, *args, **kwargs)
            return y
        names = [name for name in self.active_adapters if name in self.shira_weight]
        values = [self.shira_weight[name] for name in names]
        form = partial(self._changed, names, [self.scaling[name] for name in names])
        return self.formed.product(x, form, base.weight, *values, bias=base.bias)

    def get_delta_weight(self, adapter: str) -> Tensor:
        """Return D, (out, in)."""
        weight: Any = self.base_layer.weight
        if weight.is_meta:  # shapes alone have no places
            return torch.zeros_like(weight)
        D: Tensor = super().get_delta_weight(adapter)  # noqa: N806
        return D

    def _changed(
        self, names: list[str], scales: list[float], weight: Tensor, *values: Tensor
    ) -> Tensor:
        """Return W + D, (out, in)."""
        if weight.is_meta:  # shapes alone have no places, and torch adds no sparse ones
            return weight.detach() + sum(value.sum() for value in values)
        changed = weight.detach().clone()
        for name, scale, value in zip(names, scales, values, strict=True):
            places = self.shira_indices[name] = self.shira_indices[name].to(value.device)
            changed += torch.sparse_coo_tensor(places, value * scale, weight.shape)
        return changed


def random_mask(base_layer: nn.Linear, r: int, random_seed: int, **_: Any) -> Tensor:
    """Mark r (in + out) places of a weight (out, in): PEFT's mask, drawn once for a shape."""
    # Not the shape of the stored weight, which is another where it is quantized.
    shape, device = (base_layer.out_features, base_layer.in_features), base_layer.weight.device
    mask = torch.zeros(math.prod(shape), dtype=torch.bool, device=device)
    mask[drawn(len(mask), r * sum(shape), random_seed, device)] = True
    return mask.view(shape)


class SparseModel(ShiraModel):
    """PEFT's tuner, that leaves the places out where there are no weights but only shapes."""

    def _create_and_replace(self, *args: Any, **kwargs: Any) -> None:
        config, name, target, *rest = args
        config = copy(config)
        if target.weight.is_meta:
            config.mask_fn = None
        elif config.mask_fn is mask_functions.random_mask and config.random_seed is not None:
            config.mask_fn = random_mask
        super()._create_and_replace(config, name, target, *rest, **kwargs)  # type: ignore[no-untyped-call]


peft_model.Linear = SparseLinear  # type: ignore[attr-defined]
PEFT_TYPE_TO_TUNER_MAPPING[PeftType.SHIRA] = SparseModel
torch.sparse.check_sparse_tensor_invariants.disable()  # the default; torch warns until it is said


def check(config: ShiraConfig, model: PreTrainedModel) -> None:
    """Check that there are as many places as numbers.

    Raises:
        ValueError: Names the first layer that has fewer.
    """
    for name, layer in targeted(config, model).items():
        n, m = layer.in_features, layer.out_features
        if config.r > (limit := n * m // (n + m)):
            raise ValueError(f"{name} is {m} x {n}: r may be at most {limit}, not {config.r}.")


def parameters(config: ShiraConfig, model: PreTrainedModel) -> int:
    """Count r (in + out) over the targeted layers."""
    layers = targeted(config, model).values()
    return sum(config.r * (layer.in_features + layer.out_features) for layer in layers)


method = Method(
    title="SHiRA",
    paper="https://arxiv.org/abs/2406.13175",
    config=ShiraConfig,
    defaults={"r": 24, "random_seed": 0, "target_modules": "all-linear"},
    parameters=parameters,
    mergeable=True,
    quantized=("nf4",),
    check=check,
    variants={"dypam-paper": {}, "small": {"r": 8}},
)
