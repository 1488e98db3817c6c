"""OFT: rotate the input of each frozen linear layer, block by block.

    y = W R^T x        R = diag(R_1, ..., R_k), each R_i of shape (b, b)
    R_i = (I + Q_i) (I + Q_i + Q_i^2 + Q_i^3)

Q_i is skew-symmetric and given by its b (b - 1) / 2 numbers above the diagonal, all zero at the
start, so that R = I. k = in / b, hence in (b - 1) / 2 parameters a layer.

Qiu et al., 2023. Controlling Text-to-Image Diffusion by Orthogonal Finetuning, section 3. The tuner
is PEFT's. Of PEFT:

- R_i is the Cayley transform (I + Q) (I - Q)^-1 with its inverse cut to a Neumann series, whose
  product has `num_cayley_neumann_terms` = 5 powers of Q. So it is only about orthogonal: the error
  is of the order of Q^4 and grows in training. `exact` is (I - Q) (I + Q)^-1.
- A block size that does not divide the inputs becomes the nearest divisor, the smaller of two, and
  one that exceeds them becomes all of them. In SigLIP, the vision tower of Gemma 3, 4304 inputs get
  blocks of 16 instead of 64. The notes of a run list such layers.

The configuration is that of the DyPAM paper's baseline: b = 64 on all linear layers, as its
parameter percentages imply. PEFT's default is 32. The RoSA paper has no OFT.

Variants: `dypam-paper`, `exact`, and `small` (b = 16).
"""

import warnings
from collections import Counter
from typing import Any

from peft import OFTConfig, OFTModel, PeftModel, PeftType
from peft.mapping import PEFT_TYPE_TO_TUNER_MAPPING
from peft.tuners.oft.layer import OFTLayer
from torch import nn
from transformers import PreTrainedModel

from methods.contract import Method
from methods.tuners.config import require
from methods.tuners.layers import targeted


class NotedOFTModel(OFTModel):
    """PEFT's tuner, without a warning for each adjusted layer: `notes` lists them."""

    def _create_and_replace(self, *args: Any, **kwargs: Any) -> None:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Invalid `")
            super()._create_and_replace(*args, **kwargs)  # type: ignore[no-untyped-call]


PEFT_TYPE_TO_TUNER_MAPPING[PeftType.OFT] = NotedOFTModel


def nearest_divisor(n: int, wanted: int) -> int:
    """Find the divisor of `n` that PEFT takes for `wanted`."""
    if wanted >= n:
        return n
    divisors = (d for d in range(1, n + 1) if n % d == 0)
    return min(divisors, key=lambda d: (abs(d - wanted), d))


def blocks(config: OFTConfig, layer: nn.Linear) -> tuple[int, int]:
    """Return the number of trained blocks of a layer, and their size."""
    n = layer.in_features
    number = nearest_divisor(n, config.r) if config.r else 0
    size = n // number if number else nearest_divisor(n, config.oft_block_size)
    return 1 if config.block_share else n // size, size


def check(config: OFTConfig, model: PreTrainedModel) -> None:
    """Check that neither size is negative; PEFT makes any other fit.

    Raises:
        ValueError: One is.
    """
    require(config, "at least 0", lambda value: value >= 0, "r", "oft_block_size")


def adjustments(model: PeftModel) -> list[str]:
    """Say which layers have other blocks than the configuration says."""
    adapter = model.active_adapter
    config: Any = model.peft_config[adapter]
    found = Counter(
        (layer.in_features, layer.oft_block_size[adapter])
        for layer in model.modules()
        if isinstance(layer, OFTLayer)
    )
    wanted = config.oft_block_size or "in / r"
    return [
        f"{count} layers of {n} inputs have blocks of {size} instead of {wanted}."
        for (n, size), count in sorted(found.items())
        if size != (config.oft_block_size or n / config.r)
    ]


def parameters(config: OFTConfig, model: PreTrainedModel) -> int:
    """Count b (b - 1) / 2 for each trained block of the targeted layers."""
    layers = targeted(config, model).values()
    return sum(
        number * size * (size - 1) // 2
        for number, size in (blocks(config, layer) for layer in layers)
    )


method = Method(
    title="OFT",
    paper="https://arxiv.org/abs/2306.07280",
    config=OFTConfig,
    defaults={"oft_block_size": 64, "target_modules": "all-linear"},
    parameters=parameters,
    mergeable=True,
    quantized=("nf4", "int8"),
    check=check,
    adjustments=adjustments,
    variants={
        "dypam-paper": {},
        "exact": {"use_cayley_neumann": False},
        "small": {"oft_block_size": 16},
    },
)
