"""Bone: add one trained block to every group of columns of each frozen weight.

    y = W x + D^T (x_1 + ... + x_g)

x is cut into g = in / r groups x_i of r numbers, which share the block D of shape (r, out). D is
zero, so that training starts at W. r out parameters a layer.

Kang, 2024. Bone: Block-Affine Adaptation of Large Language Models; later versions of the paper
call this form MiSS. The tuner is PEFT's `MissConfig`, since PEFT 0.19 has no `BoneConfig`; its
default is what `BoneConfig` computed. There is no alpha and no scale. Of PEFT:

- Where r does not divide the inputs, x is padded with zeros: the last group is shorter.
- `init_weights` is no start value but chooses the form: true is the one above; "bat" is
  the paper's weight-dependent W + W D + D by blocks of r x r, whose r divides inputs and outputs;
  "mini" repeats a block of `mini_r` outputs, r mini_r parameters.

The configuration is that of the DyPAM paper's baseline: r = 48 on all linear layers, as its
parameter percentages imply. PEFT's default is 64.

Variants: `dypam-paper`, `rosa-paper` (r = 16), and `small` (r = 16), for layers of fewer than 48
inputs.
"""

from collections import Counter

from peft import MissConfig, PeftModel
from peft.tuners.miss.layer import MissLayer
from transformers import PreTrainedModel

from methods.contract import Method
from methods.tuners.config import require
from methods.tuners.layers import targeted


def check(config: MissConfig, model: PreTrainedModel) -> None:
    """Check that r is not larger than the inputs, and that "bat" and "mini" divide a layer.

    Raises:
        ValueError: Names the field, or the first layer that does not fit.
    """
    require(config, "at least 1", lambda value: value >= 1, "r", "mini_r")
    for name, layer in targeted(config, model).items():
        n, m = layer.in_features, layer.out_features
        if config.r > n:
            raise ValueError(f"{name} has {n} inputs: r may be at most {n}, not {config.r}.")
        if config.init_weights == "bat" and (n % config.r or m % config.r):
            raise ValueError(f"{name} is {m} x {n}: r must divide both, and {config.r} does not.")
        if config.init_weights == "mini" and m % config.mini_r:
            raise ValueError(
                f"{name} has {m} outputs: mini_r must divide them, and {config.mini_r} does not."
            )


def adjustments(model: PeftModel) -> list[str]:
    """Say which layers have a shorter last group."""
    padded = Counter(
        (layer.in_features, layer.miss_r[name])
        for layer in model.modules()
        if isinstance(layer, MissLayer)
        for name in layer.miss_r
        if layer.in_features % layer.miss_r[name]
    )
    return [
        f"{count} layers of {n} inputs: {n} is not divisible by r = {r}, so their last group has "
        f"{n % r} inputs."
        for (n, r), count in sorted(padded.items())
    ]


def parameters(config: MissConfig, model: PreTrainedModel) -> int:
    """Count r out over the targeted layers, or r mini_r for "mini"."""
    layers = targeted(config, model).values()
    if config.init_weights == "mini":
        return config.r * config.mini_r * len(layers)
    return sum(config.r * layer.out_features for layer in layers)


method = Method(
    title="Bone",
    paper="https://arxiv.org/abs/2409.15371",
    config=MissConfig,
    defaults={"r": 48, "target_modules": "all-linear"},
    parameters=parameters,
    mergeable=True,
    quantized=("nf4", "int8"),
    check=check,
    adjustments=adjustments,
    variants={"dypam-paper": {}, "rosa-paper": {"r": 16}, "small": {"r": 16}},
)
