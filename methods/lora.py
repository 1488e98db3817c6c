"""LoRA: learn a low-rank update of each frozen linear layer.

    y = W x + (alpha / r) B A x

A of shape (r, in), uniform as Kaiming; B of shape (out, r), zero, so that training starts at W.
r (in + out) parameters a layer.

Hu et al., 2021. LoRA: Low-Rank Adaptation of Large Language Models, section 4.1. The tuner is
PEFT's. The configuration is that of the DyPAM paper's baseline: r = 24 on all linear layers, as its
parameter percentages imply; alpha is left at PEFT's default of 8, as "all other hyperparameters
follow their default configurations".

Variants: `rosa-paper` (r = 16), `hycam-paper` (r = 64), and two ablations of RoSA that keep its
layer selection and put LoRA on queries and keys in place of its modulation, `rosa-lr128` and
`rosa-lr64`.
"""

from peft import LoraConfig
from transformers import PreTrainedModel

from methods.contract import Method
from methods.tuners.layers import fits_rank, targeted


def parameters(config: LoraConfig, model: PreTrainedModel) -> int:
    """Count r (in + out) over the targeted layers."""
    layers = targeted(config, model).values()
    return sum(config.r * (layer.in_features + layer.out_features) for layer in layers)


QUERY_KEY = {"target_modules": ["q_proj", "k_proj"], "dls": True}

method = Method(
    title="LoRA",
    paper="https://arxiv.org/abs/2106.09685",
    config=LoraConfig,
    defaults={"r": 24, "target_modules": "all-linear"},
    parameters=parameters,
    mergeable=True,
    quantized=("nf4", "int8"),
    check=fits_rank,
    variants={
        "dypam-paper": {},
        "rosa-paper": {"r": 16},
        "hycam-paper": {"r": 64},
        "rosa-lr128": {"r": 128, **QUERY_KEY},
        "rosa-lr64": {"r": 64, **QUERY_KEY},
    },
)
