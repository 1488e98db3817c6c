"""LoRA: learn a low-rank update of each frozen linear layer.

    y = W x + (alpha / r) B A x

A of shape (r, in), uniform as Kaiming; B of shape (out, r), zero, so that training starts at W.
r (in + out) parameters a layer.

Hu et al., 2021. LoRA: Low-Rank Adaptation of Large Language Models, section 4.1. The tuner is
PEFT's. The configuration is that of the DyPAM paper's baseline: r = 24 on all linear layers, as its
parameter percentages imply; alpha is left at PEFT's default of 8, as "all other hyperparameters
follow their default configurations".
"""

from peft import LoraConfig
from transformers import PreTrainedModel

from methods.base import Method, linear_layers


def parameters(config: LoraConfig, model: PreTrainedModel) -> int:
    """Count r (in + out) over the linear layers."""
    layers = linear_layers(model)
    return sum(config.r * (layer.in_features + layer.out_features) for layer in layers)


method = Method(
    title="LoRA",
    paper="https://arxiv.org/abs/2106.09685",
    config=LoraConfig,
    defaults={"r": 24, "target_modules": "all-linear"},
    parameters=parameters,
    mergeable=True,
)
