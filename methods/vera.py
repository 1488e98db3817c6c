"""VeRA: learn two vectors around a frozen random low-rank matrix that all layers share.

    y = W x + b * (B (d * (A x)))

A of shape (r, in) and B of shape (out, r) are cut from one A and one B, as large as the largest
inputs and outputs among the layers, uniform as Kaiming, drawn once from `projection_prng_key` and
frozen. d of shape (r,) starts at `d_initial` = 0.1; b of shape (out,) at zero, so that training
starts at W. out + r parameters a layer.

Kopiczko et al., 2023. VeRA: Vector-based Random Matrix Adaptation, section 3.1. The tuner is
PEFT's. A and B are buffers and are saved with the adapter (`save_projection`), so that it does not
depend on a random generator. Over a base in bfloat16, PEFT rounds them to bfloat16 once.

The configuration is that of the RoSA paper's baseline: r = 16 on all linear layers, far below
PEFT's default of 256, at which the paper's percentages would be 0.0189, 0.0179 and 0.0208. The
DyPAM paper has no VeRA.

Variants: `rosa-paper`.
"""

from peft import VeraConfig
from transformers import PreTrainedModel

from methods.contract import Method
from methods.tuners.config import require
from methods.tuners.layers import targeted


def check(config: VeraConfig, model: PreTrainedModel) -> None:
    """Check the rank; it may exceed the layers.

    Raises:
        ValueError: It is below 1.
    """
    require(config, "at least 1", lambda rank: rank >= 1, "r")


def parameters(config: VeraConfig, model: PreTrainedModel) -> int:
    """Count out + r over the targeted layers."""
    return sum(layer.out_features + config.r for layer in targeted(config, model).values())


method = Method(
    title="VeRA",
    paper="https://arxiv.org/abs/2310.11454",
    config=VeraConfig,
    defaults={"r": 16, "target_modules": "all-linear"},
    parameters=parameters,
    mergeable=True,
    quantized=("nf4", "int8"),
    check=check,
    variants={"rosa-paper": {}},
)
