"""FourierFT: learn a few Fourier coefficients of the update of each frozen weight.

    y = W x + alpha Re(F^-1(S)) x

S of shape (out, in) is zero but at n random places, which hold the trained real numbers; F^-1 is
the two-dimensional inverse transform with its factor 1 / (out in). n parameters a layer.

Gao et al., 2024. Parameter-Efficient Fine-Tuning with Discrete Fourier Transform, section 3. The
tuner is PEFT's. Of PEFT:

- The coefficients start at N(0, 1), so training starts away from W: the entries of the update have
  a standard deviation of alpha sqrt(n / 2) / (out in), 0.004 for 3072 x 3072 and 0.012 for
  1024 x 3072 with the fields below, which is the size of trained weights. `zero-start` starts at W.
- `random_loc_seed` = 777 draws the places of each layer: layers of one shape share them.
- The update is multiplied out in each forward pass, in float32 whatever the precision of the
  base, also when one token is decoded. Merge the adapter where that matters.

The configuration is that of the DyPAM paper's baseline: n = 120,000 on all linear layers, as its
parameter percentages imply; alpha is left at PEFT's default of 150. The RoSA paper has no
FourierFT.

Variants: `dypam-paper`, `zero-start`, and `small` (n = 128, starts at W). In matrices as small as
those of `tiny` an update from N(0, 1) is as large as W: with it, `small` scores 1 % on the sample
data of mathematics, and 84 % from W.
"""

from peft import FourierFTConfig
from transformers import PreTrainedModel

from methods.contract import Method
from methods.tuners.layers import targeted


def check(config: FourierFTConfig, model: PreTrainedModel) -> None:
    """Check that there are as many places as coefficients.

    Raises:
        ValueError: Names the first layer that has fewer.
    """
    for name, layer in targeted(config, model).items():
        limit = layer.in_features * layer.out_features
        if config.n_frequency > limit:
            raise ValueError(
                f"{name} is {layer.out_features} x {layer.in_features}: n_frequency may be at most "
                f"{limit} there, not {config.n_frequency}."
            )


def parameters(config: FourierFTConfig, model: PreTrainedModel) -> int:
    """Count n for each targeted layer."""
    return config.n_frequency * len(targeted(config, model))


method = Method(
    title="FourierFT",
    paper="https://arxiv.org/abs/2405.03003",
    config=FourierFTConfig,
    defaults={"n_frequency": 120_000, "target_modules": "all-linear"},
    parameters=parameters,
    mergeable=True,
    quantized=("nf4", "int8"),
    check=check,
    variants={
        "dypam-paper": {},
        "zero-start": {"init_weights": True},
        "small": {"n_frequency": 128, "init_weights": True},
    },
)
