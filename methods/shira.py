"""SHiRA: train a few entries of each frozen weight, at random places.

    y = (W + D) x + bias

D of shape (out, in) is zero but at r (in + out) places, which hold the trained numbers. They are
zero too, so that training starts at W. r (in + out) parameters a layer, as many as LoRA of rank r;
the rank of D is not bounded by r.

Bhardwaj et al., 2024. Sparse High Rank Adapters, section 3. The tuner is PEFT's, which has the
paper's random mask and not the masks that look at weights or gradients. Of PEFT:

- The places are saved with the adapter. They are drawn from `random_seed`, which is fixed here, so
  that they do not hang on a default of torch; layers of one shape share them.
- W + D is formed in the precision of the base in each forward pass: over a base in bfloat16,
  entries of D that are small beside those of W are rounded away from the output.

The configuration is that of the DyPAM paper's baseline: r = 24 on all linear layers, as its
parameter percentages imply. PEFT's default is 32. The RoSA paper has no SHiRA.

Variants: `dypam-paper`, and `small` (r = 8).
"""

from copy import copy
from typing import Any

import torch
from peft import PeftType, ShiraConfig, ShiraModel
from peft.mapping import PEFT_TYPE_TO_TUNER_MAPPING
from torch import nn
from transformers import PreTrainedModel

from methods.contract import Method
from methods.tuners.layers import targeted


class CountableShiraModel(ShiraModel):
    """PEFT's tuner, that leaves the places out where there are no weights but only shapes."""

    @staticmethod
    def _create_new_module(
        shira_config: Any, adapter_name: str, target: Any, **kwargs: Any
    ) -> nn.Module:
        if target.weight.is_meta:
            shira_config = copy(shira_config)
            shira_config.mask_fn = None
        module: nn.Module = ShiraModel._create_new_module(
            shira_config, adapter_name, target, **kwargs
        )
        return module


PEFT_TYPE_TO_TUNER_MAPPING[PeftType.SHIRA] = CountableShiraModel
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
