"""FourierFT: learn a few Fourier coefficients of the update of each frozen weight.

    y = W x + alpha Re(F^-1(S)) x

S of shape (out, in) is zero but at n random places, which hold the trained real numbers; F^-1 is
the two-dimensional inverse transform with its factor 1 / (out in). n parameters a layer.

Gao et al., 2024. Parameter-Efficient Fine-Tuning with Discrete Fourier Transform, section 3. The
tuner is PEFT's. Of PEFT:

- The coefficients start at N(0, 1), so training starts away from W: the entries of the update have
  a standard deviation of alpha sqrt(n / 2) / (out in), 0.004 for 3072 x 3072 and 0.012 for
  1024 x 3072 with the fields below, which is the size of trained weights. `zero-start` starts at W.
- `random_loc_seed` = 777 draws the places of each layer: layers of one shape share them, and they
  are drawn once for a shape.
- The update is multiplied out in float32 whatever the precision of the base. Training does so in
  the forward and again in the backward pass, where PEFT holds it in between. An evaluation over
  bfloat16 keeps it where there is room: 4 bytes for each number of the weights, 11 GB for
  Llama-3.2-3B.

The configuration is that of the DyPAM paper's baseline: n = 120,000 on all linear layers, as its
parameter percentages imply; alpha is left at PEFT's default of 150. The RoSA paper has no
FourierFT.

Variants: `dypam-paper`, `zero-start`, and `small` (n = 128, starts at W). In matrices as small as
those of `tiny` an update from N(0, 1) is as large as W: with it, `small` scores 1 % on the sample
data of mathematics, and 84 % from W.
"""

from functools import partial
from typing import Any

import torch
from peft import FourierFTConfig
from peft.tuners.fourierft import model as peft_model
from peft.tuners.fourierft.layer import FourierFTLinear
from torch import Tensor, nn
from transformers import PreTrainedModel

from methods.contract import Method
from methods.tuners.config import require
from methods.tuners.formed import Formed
from methods.tuners.layers import targeted
from methods.tuners.places import drawn


class SpectrumLinear(FourierFTLinear):
    """PEFT's layer, which forms its update again for the gradient."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.formed = Formed()

    def update_layer(
        self, adapter_name: str, n_frequency: int, config: FourierFTConfig, **kwargs: Any
    ) -> None:
        """Add an adapter. The start is drawn where it is zero too, as PEFT does."""
        self.fourierft_n_frequency[adapter_name] = n_frequency
        self.fourierft_random_loc_seed[adapter_name] = config.random_loc_seed
        self.fourierft_scaling[adapter_name] = config.scaling
        self.indices[adapter_name] = self._places(n_frequency, config)
        self.fourierft_spectrum[adapter_name] = nn.Parameter(torch.randn(n_frequency))
        if config.init_weights:
            nn.init.zeros_(self.fourierft_spectrum[adapter_name])
        self._move_adapter_to_device_of_base_layer(adapter_name)
        self.set_adapter(self.active_adapters, inference_mode=config.inference_mode)

    def _places(self, n: int, config: Any) -> Tensor:
        """Return rows and columns of the coefficients, (2, n)."""
        base: Any = self.get_base_layer()
        device = base.weight.device
        if device.type == "meta":
            return torch.empty(2, n, dtype=torch.int64, device=device)
        places = drawn(self.out_features * self.in_features, n, config.random_loc_seed, device)
        return torch.stack([places // self.in_features, places % self.in_features])

    def get_delta_weight(self, adapter: str, spectrum: Tensor | None = None) -> Tensor:
        """Return alpha Re(F^-1(S)), (out, in), of the adapter's spectrum or of another one."""
        s = self.fourierft_spectrum[adapter] if spectrum is None else spectrum
        S = s.new_zeros(self.out_features, self.in_features, dtype=torch.float32)  # noqa: N806
        rows, columns = self.indices[adapter].to(s.device)
        S[rows, columns] = s.float()
        update: Tensor = torch.fft.ifft2(S).real * self.fourierft_scaling[adapter]
        return update.to(s.dtype)

    def forward(self, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Map (..., in) to (..., out)."""
        if self.disable_adapters or self.merged:
            y: Tensor = super().forward(x, *args, **kwargs)
            return y
        y = self.base_layer(x, *args, **kwargs)
        for name in self.active_adapters:
            if name in self.fourierft_spectrum:
                form = partial(self.get_delta_weight, name)
                y = y + self.formed.product(x, form, self.fourierft_spectrum[name])
        return y.to(x.dtype)


peft_model.FourierFTLinear = SpectrumLinear  # type: ignore[attr-defined]


def check(config: FourierFTConfig, model: PreTrainedModel) -> None:
    """Check that there are coefficients, and as many places.

    Raises:
        ValueError: There are none, or names the first layer that has fewer places.
    """
    require(config, "at least 1", lambda value: value >= 1, "n_frequency")
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
