"""LoCA: learn a few cosine coefficients of each weight's update, and where they lie.

    y = W x + alpha C^T S(a, l) D x                          the update in its cosine spectrum
    S[l1_k, l2_k] = a_k,  zero elsewhere;   l = round(u (size - 1))       k = 1 .. n

C of shape (out, out) and D of shape (in, in) are the orthonormal cosine transforms (DCT-II), so
that C^T S D is an inverse two-dimensional transform. Per layer a of shape (n), zero, and u of shape
(2, n), uniform over [0, 1], one row per side of the matrix. With G the gradient of the weight and
Z = alpha C G D^T its spectrum,

    grad a_k  = Z[l1_k, l2_k]
    grad l1_k = a_k / 2 (Z[l1_k + 1, l2_k] - Z[l1_k - 1, l2_k])   clamped to [-1, 1]; l2 likewise

Learning alternates: 10 steps of coefficients, 20 of locations, and so on through the first tenth of
the training; then the coefficients alone. n of the numbers are coefficients and 2 n are locations:
3 n parameters a layer. (Published counts are of the coefficients, n a layer.)

No matrix of the weight's size is formed in training: a token costs two fast transforms and n
products.

Du et al., ICLR 2025. LoCA: Location-Aware Cosine Adaptation for Parameter-Efficient Fine-Tuning.
What is open, and the choice made:

- n for language models: the 1,000 of the paper's GLUE experiments. For a comparison at equal size,
  set it.
- The learning rate of the locations, 1e-4, where an optimizer has one rate for all parameters: the
  unit of the parameter. AdamW moves a parameter by its rate whatever the size of the gradient, so
  that `locations` = u / `location_scale` moves u by `location_scale` times the rate: 1e-4 at 1e-3.
  It decays with weight decay, which should be 0. A rate of 1e-4 can only be meant for u, and not
  for l, which would never change.
- The unit of the gradient of a location: a place of the matrix, as in the formula. The derivative
  of l by the parameter is left out, so that the limit of +-1 does not depend on the size. The limit
  holds for each backward pass.
- Neighbours outside the matrix: the place itself takes their part. A u outside [0, 1] counts as the
  nearest border.
- Coefficients at one place add up.
- The part that is not learned in a step has no gradient, so that AdamW leaves it and its moments
  alone. DeepSpeed takes a zero in its place, and the moments carry the part on. Without the hook
  both parts learn in every step.

An adapter cast to bfloat16, as DeepSpeed does, has only a few hundred locations on each side.
"""

from dataclasses import dataclass
from typing import Any

import torch
from peft import PeftModel
from torch import Tensor, nn
from transformers import PreTrainedModel

from methods.contract import Method
from methods.training.hooks import StepHooks, TrainingAhead
from methods.tuners.adapter import Adapter
from methods.tuners.config import NativeConfig, require
from methods.tuners.cosine import dct, idct
from methods.tuners.layers import targeted
from methods.tuners.linear import LinearTuner
from methods.tuners.peft_types import register
from methods.tuners.shared import Shared, SharingTuner
from methods.tuners.sparse import places, product, sampled


@dataclass
class LoCAConfig(NativeConfig):
    """Hyperparameters of LoCA.

    Attributes:
        n: Coefficients per layer.
        alpha: Scale of the update.
        location_scale: Learning rate of the locations over that of the coefficients; a location is
            measured in sides of the matrix.
        coefficient_steps: Steps of a cycle that learn coefficients; they come first.
        location_steps: Steps of a cycle that learn locations.
        location_share: Share of the training after which the locations stay (`learn_location_iter`
            over the steps in all).
        target_modules: Names of the linear layers.
    """

    peft_type = "LOCA"

    n: int = 1000
    alpha: float = 1.0
    location_scale: float = 0.1
    coefficient_steps: int = 10
    location_steps: int = 20
    location_share: float = 0.1
    target_modules: set[str] | str = "all-linear"

    def __post_init__(self) -> None:
        super().__post_init__()
        counts = ("n", "coefficient_steps", "location_steps")
        require(self, "at least 1", lambda value: value >= 1, *counts)
        require(self, "above 0", lambda value: value > 0, "alpha", "location_scale")
        require(self, "between 0 and 1", lambda value: 0 <= value <= 1, "location_share")


def spectrum(x: Tensor) -> Tensor:
    """Map (..., in) to D x, (in, tokens)."""
    z: Tensor = Spectrum.apply(x.reshape(-1, x.shape[-1]))  # type: ignore[no-untyped-call]
    return z


class Spectrum(torch.autograd.Function):
    """The cosine transform of tokens (tokens, in), channel by channel."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        """Map (tokens, in) to (in, tokens)."""
        return dct(x).T.contiguous()

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        """Return the gradient of x."""
        return idct(gradients[0].T.contiguous())


def _difference(x: Tensor) -> Tensor:
    """Subtract of each channel's neighbours the one before from the one after."""
    return torch.cat([x[1:], x[-1:]]) - torch.cat([x[:1], x[:-1]])


class CosineUpdate(torch.autograd.Function):
    """C^T S z for spectra z (in, tokens), and the gradients of the module's docstring."""

    @staticmethod
    def forward(ctx: Any, z: Tensor, a: Tensor, locations: Tensor, at: Tensor, out: int) -> Tensor:
        """Map (in, tokens) to (tokens, out); `locations` are only there to get a gradient."""
        order = at[0].argsort(stable=True)
        ctx.places = places(at[0, order], at[1, order], out, len(z))
        ctx.save_for_backward(z, a, order)
        return idct(product(ctx.places.rows, a[order], z).T.contiguous())

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of z, coefficients and locations."""
        z, a, order = ctx.saved_tensors
        rows, transposed, turned = ctx.places
        ordered, back = a[order], order.argsort()
        g = dct(gradients[0]).T.contiguous()
        to_z = to_a = to_locations = None
        if ctx.needs_input_grad[0]:
            to_z = product(transposed, ordered[turned], g)
        if ctx.needs_input_grad[1]:
            to_a = sampled(rows, ordered, z, g)[back]
        if ctx.needs_input_grad[2]:
            down = sampled(rows, ordered, z, _difference(g))
            right = sampled(rows, ordered, _difference(z), g)
            to_locations = (a / 2 * torch.stack([down, right])[:, back]).clamp(-1, 1)
        return to_z, to_a, to_locations, None, None


class LoCA(Adapter):
    """The coefficients of one layer's update and their locations.

    Attributes:
        a: Coefficients (n).
        locations: u / location_scale (2, n): rows of the weight, then columns.
        learns_coefficients: Whether the coefficients get a gradient.
        learns_locations: Whether the locations get one.
    """

    def __init__(self, linear: nn.Linear, config: LoCAConfig) -> None:
        super().__init__()
        self.config, self.shape = config, (linear.out_features, linear.in_features)
        limit = linear.out_features * linear.in_features
        if config.n > limit:
            raise ValueError(f"n may be at most {limit}, the size of the weight, not {config.n}.")
        self.a = nn.Parameter(torch.zeros(config.n))
        self.locations = nn.Parameter(torch.rand(2, config.n) / config.location_scale)
        self.learns_coefficients = self.learns_locations = True
        self.shared = Shared()

    @property
    def precision(self) -> torch.dtype:
        """That of the transforms, of which there are none in bfloat16."""
        return torch.promote_types(self.dtype, torch.float32)

    def places(self) -> Tensor:
        """Return row and column of each coefficient, integers (2, n)."""
        u = (self.config.location_scale * self.locations.detach().to(self.precision)).clamp(0, 1)
        rows, columns = u[0] * (self.shape[0] - 1), u[1] * (self.shape[1] - 1)
        return torch.stack([rows, columns]).round().long()

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., in) to the update's (..., out)."""
        x, a, locations = (tensor.to(self.precision) for tensor in (x, self.a, self.locations))
        y: Tensor = CosineUpdate.apply(  # type: ignore[no-untyped-call]
            self.shared.get(self, x, spectrum),
            a if self.learns_coefficients else a.detach(),
            locations if self.learns_locations else locations.detach(),
            self.places(),
            self.shape[0],
        )
        return self.config.alpha * y.view(*x.shape[:-1], -1)

    def weight_update(self) -> Tensor:
        """Return alpha C^T S D, of shape (out, in)."""
        a, (row, column) = self.a.detach().to(self.precision), self.places()
        spectrum = a.new_zeros(self.shape).index_put((row, column), a, accumulate=True)
        return self.config.alpha * idct(idct(spectrum).T).T

    def alternate(self, step: int, steps: int) -> None:
        """Choose what step `step` of `steps` learns; the first step is 1."""
        config = self.config
        turn = (step - 1) % (config.coefficient_steps + config.location_steps)
        still_moving = step <= round(config.location_share * steps)
        self.learns_locations = still_moving and turn >= config.coefficient_steps
        self.learns_coefficients = not self.learns_locations


class LoCAModel(SharingTuner, LinearTuner):
    """Puts a `LoCA` beside every targeted linear layer."""

    adapter = LoCA

    def alternate(self, step: int, steps: int) -> None:
        """Choose what step `step` of `steps` learns; call it before the forward pass."""
        for adapter in self.adapters().values():
            adapter.alternate(step, steps)


register(LoCAConfig, LoCAModel)


@dataclass(frozen=True)
class Alternation(StepHooks):
    """Learns coefficients and locations in turn."""

    model: PeftModel
    ahead: TrainingAhead

    def before_forward(self, step: int) -> None:
        """Choose what the step learns."""
        tuner: Any = self.model.base_model
        tuner.alternate(step, self.ahead.steps)


def parameters(config: LoCAConfig, model: PreTrainedModel) -> int:
    """Count n coefficients and 2 n locations for each targeted layer."""
    return 3 * config.n * len(targeted(config, model))


method = Method(
    title="LoCA",
    paper="https://arxiv.org/abs/2502.06820",
    config=LoCAConfig,
    parameters=parameters,
    mergeable=True,
    quantized=("nf4", "int8"),
    zero_safe=False,
    hooks=Alternation,
)
