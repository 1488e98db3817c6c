"""C3A: add a block-circular convolution to each frozen linear layer.

    y_i = W_i x + (1 / in) sum_j C(w_ij) x_j        C(w)_kl = w_{(l - k) mod b}

x and y are cut into blocks x_j and y_i of b numbers, and C(w) is the circulant matrix (b, b) of the
kernel w. The kernels have shape (out / b, in / b, b); the product is taken by FFT, in float32
whatever the precision of the base. in out / b parameters a layer.

Chen et al., 2024. Parameter-Efficient Fine-Tuning via Circular Convolution, section 3. The tuner is
PEFT's. Of PEFT:

- The kernels start uniform as Xavier, so training starts away from W; `zero-start` starts at W.
- b must divide inputs and outputs of every layer. 128 divides those of Llama, Qwen and Gemma, and
  not the 4304 of SigLIP, the vision tower of Gemma 3.
- Over several active adapters PEFT feeds one with the output of another. One is used here.

The configuration is that of the RoSA paper's baseline: b = 128 on all linear layers. The DyPAM
paper has no C3A.

Variants: `rosa-paper`, `zero-start`, and `small` (b = 16).
"""

from peft import C3AConfig
from transformers import PreTrainedModel

from methods.contract import Method
from methods.tuners.config import require
from methods.tuners.layers import targeted


def check(config: C3AConfig, model: PreTrainedModel) -> None:
    """Check that the block divides both sides of every layer.

    Raises:
        ValueError: Names the field, or the first layer that it does not divide.
    """
    require(config, "at least 1", lambda value: value >= 1, "block_size")
    for name, layer in targeted(config, model).items():
        if layer.in_features % config.block_size or layer.out_features % config.block_size:
            raise ValueError(
                f"{name} is {layer.out_features} x {layer.in_features}: block_size must divide "
                f"both, and {config.block_size} does not."
            )


def parameters(config: C3AConfig, model: PreTrainedModel) -> int:
    """Count in out / b over the targeted layers."""
    layers = targeted(config, model).values()
    return sum(layer.in_features * layer.out_features // config.block_size for layer in layers)


method = Method(
    title="C3A",
    paper="https://arxiv.org/abs/2407.19342",
    config=C3AConfig,
    defaults={"block_size": 128, "target_modules": "all-linear"},
    parameters=parameters,
    mergeable=True,
    quantized=("nf4", "int8"),
    starts_at_base=False,
    check=check,
    variants={
        "rosa-paper": {},
        "zero-start": {"init_weights": True},
        "small": {"block_size": 16},
    },
)
