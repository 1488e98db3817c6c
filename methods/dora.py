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
- Each forward pass multiplies B A out to take the norms, also when one token is decoded. Merge the
  adapter where that matters.

The configuration is that of the RoSA paper's baseline, r = 16 on all linear layers; alpha is left
at PEFT's default of 8. The DyPAM paper has no DoRA.

Variants: `rosa-paper`.
"""

from peft import LoraConfig
from transformers import PreTrainedModel

from methods.contract import Method
from methods.tuners.layers import fits_rank, targeted


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
