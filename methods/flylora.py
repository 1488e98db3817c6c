"""FlyLoRA: low-rank updates over a frozen sparse projection, of which a token uses a few ranks.

    y = W x + (alpha / r) B (mask(x) * A x)
    mask(x)_i = 1 for the k ranks i with the largest |A x|_i + d_i, else 0
    d_i <- d_i + u sign(mean_j count_j - count_i)              in each step

A of shape (r, in) is frozen: each row has p = in k / r entries, rounded down, at random places,
drawn from N(0, 1/r^2), and zeros elsewhere. B of shape (out, r), zero, is trained. d of shape (r),
zero, is moved by the rule above, where count_i says how many tokens used rank i since the last
step: it raises the odds of the ranks that are used too little. r out parameters a layer. The mask
depends on the token, so it cannot be merged.

Zou et al., NeurIPS 2025. FlyLoRA: Boosting Task Decoupling and Parameter Efficiency via Implicit
Rank-Wise Mixture-of-Experts. The defaults are those of the official script; its learning rate is
3e-4. Where the official code is of two minds or departs from the rule, and the choice made:

- The score of a rank: the official tuner takes A x + d, the official minimal file |A x + d|; here
  it is |A x| + d. What a rank adds has the size of |A x|, and the sign is B's to choose. And d has
  to raise the odds as it rises, which in |A x + d| it does not: there the negative d of a rank that
  is used too much makes it used still more.
- The official tuner stops the gradient at A x, so that earlier layers do not learn from this
  branch; here it flows.
- The official code moves d in every forward pass, in evaluation too; here once in each
  step, after its training passes, and never in evaluation, which would change what it measures.
- The minimal file has been published in two versions. One moves d by k / r minus the raw count,
  which is negative after a few tokens; the other, and this file, by the sign of the mean count
  minus the count.
- Padding counts as tokens: a linear layer does not know it.
- Each layer has an A of its own, drawn from `seed` and the layer's name. A is saved.

d is u times a whole number, which is kept instead, so that it is exact in any precision.

Variants: `code` scores by A x + d and stops the gradient, as the official tuner does.
"""

import copy
import zlib
from dataclasses import dataclass
from typing import Any

import torch
from peft import PeftModel
from torch import Tensor, nn
from torch.nn import functional
from transformers import PreTrainedModel

from methods.contract import Method
from methods.training.hooks import StepHooks, TrainingAhead
from methods.tuners.adapter import Adapter
from methods.tuners.config import NativeConfig, require
from methods.tuners.layers import targeted
from methods.tuners.linear import LinearTuner
from methods.tuners.peft_types import register


@dataclass
class FlyLoRAConfig(NativeConfig):
    """Hyperparameters of FlyLoRA.

    Attributes:
        r: Ranks of a layer.
        k: Ranks that a token uses.
        alpha: The update is scaled by alpha / r.
        u: Step of the balancing bias.
        signed: Whether the score of a rank is A x + d instead of |A x| + d.
        stop_gradient: Whether the adapter passes no gradient on to earlier layers.
        seed: Of the frozen projections.
        target_modules: Names of the linear layers.
    """

    peft_type = "FLYLORA"

    r: int = 32
    k: int = 8
    alpha: float = 64.0
    u: float = 1e-3
    signed: bool = False
    stop_gradient: bool = False
    seed: int = 0
    target_modules: set[str] | str = "all-linear"

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "at least 1", lambda value: value >= 1, "r")
        require(self, f"between 1 and r = {self.r}", lambda value: 1 <= value <= self.r, "k")
        require(self, "above 0", lambda value: value > 0, "alpha")
        require(self, "at least 0", lambda value: value >= 0, "u", "seed")


def sparse_projection(r: int, size: int, p: int, seed: int) -> Tensor:
    """Draw (r, size) with p entries per row from N(0, 1/r^2), at distinct random places."""
    generator = torch.Generator().manual_seed(seed)
    fixed: dict[str, Any] = {"generator": generator, "device": "cpu", "dtype": torch.float32}
    places = torch.rand(r, size, **fixed).topk(p).indices
    values = torch.randn(r, p, **fixed) / r
    return torch.zeros(r, size, device="cpu", dtype=torch.float32).scatter(1, places, values)


class FlyLoRA(Adapter):
    """The update of one layer.

    Attributes:
        A: Frozen projection (r, in).
        B: Trained (out, r).
        balance: d / u, integers (r).
        counts: Tokens that used each rank since the last update of `balance`, integers (r); a pass
            that gradient checkpointing repeats counts again, which leaves the signs as they are.
    """

    A: Tensor
    balance: Tensor
    counts: Tensor

    def __init__(self, linear: nn.Linear, config: FlyLoRAConfig) -> None:
        super().__init__()
        self.config, size = config, linear.in_features
        p = size * config.k // config.r
        if p == 0:
            raise ValueError(
                f"r may be at most k x {size} inputs = {config.k * size}, not {config.r}: "
                "a row of A would be empty."
            )
        if linear.weight.is_meta:  # only shapes are asked for
            drawn = torch.empty(config.r, size)
        else:
            drawn = sparse_projection(config.r, size, p, config.seed)
        self.register_buffer("A", drawn)
        self.register_buffer("balance", torch.zeros(config.r, dtype=torch.int32))
        self.register_buffer("counts", torch.zeros(config.r, dtype=torch.int64), persistent=False)
        self.B = nn.Parameter(torch.zeros(linear.out_features, config.r))

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., in) to the update's (..., out)."""
        active = functional.linear(x.detach() if self.config.stop_gradient else x, self.A)
        mask = self.mask(active.detach())
        if self.training:
            self.counts += mask.flatten(0, -2).sum(dim=0)
        scale = self.config.alpha / self.config.r
        return scale * functional.linear(active * mask, self.B)

    def mask(self, active: Tensor) -> Tensor:
        """Choose k ranks for each token from A x (..., r): true where a rank is used."""
        score = active if self.config.signed else active.abs()
        biased = score + self.config.u * self.balance.to(score.dtype)
        chosen = biased.topk(self.config.k, dim=-1).indices
        return torch.zeros_like(active, dtype=torch.bool).scatter(-1, chosen, True)

    def update_balance(self) -> None:
        """Move d against the counts, and count from zero."""
        # r (mean - count), in integers.
        self.balance += torch.sign(self.counts.sum() - self.config.r * self.counts)
        self.counts.zero_()


class FlyLoRAModel(LinearTuner):
    """Puts a `FlyLoRA` beside every targeted linear layer."""

    adapter = FlyLoRA
    not_mergeable = "the ranks in use depend on the token."

    def _create_and_replace(  # type: ignore[override]
        self, peft_config: FlyLoRAConfig, *target: Any, **key: Any
    ) -> None:
        own = copy.copy(peft_config)
        own.seed = zlib.crc32(f"{peft_config.seed}/{key['current_key']}".encode())
        super()._create_and_replace(own, *target, **key)

    def update_balance(self) -> None:
        """Move the biases of all layers; call it in each step, after its passes."""
        for adapter in self.adapters().values():
            adapter.update_balance()


register(FlyLoRAConfig, FlyLoRAModel)


@dataclass(frozen=True)
class LoadBalance(StepHooks):
    """Moves the balancing biases in each step."""

    model: PeftModel
    ahead: TrainingAhead

    def after_backward(self, step: int) -> None:
        """Move them, since the passes that count are over; the gradients do not matter."""
        tuner: Any = self.model.base_model
        tuner.update_balance()


def parameters(config: FlyLoRAConfig, model: PreTrainedModel) -> int:
    """Count r out over the targeted layers."""
    return sum(config.r * layer.out_features for layer in targeted(config, model).values())


method = Method(
    title="FlyLoRA",
    paper="https://arxiv.org/abs/2510.08396",
    config=FlyLoRAConfig,
    parameters=parameters,
    mergeable=False,
    quantized=("nf4", "int8"),
    unpacked="it balances its ranks over all tokens of a batch, padding included",
    variants={"code": {"signed": True, "stop_gradient": True}},
    hooks=LoadBalance,
    counts=("counts",),
)
