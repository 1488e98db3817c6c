"""AdaLoRA: LoRA in the form of a singular value decomposition, pruned to a budget of ranks.

    y = W x + (alpha / r_0) B (E * A) x

A of shape (r_0, in) and B of shape (out, r_0), normal with a standard deviation of 0.02; the
singular values E of shape (r_0, 1), zero, so that training starts at W. r_0 (in + out + 1)
parameters a layer. In the scale, PEFT adds 0.00001 to r_0.

    S_i = s(E_i) + mean_j s(A_ij) + mean_j s(B_ji)        score of singular value i of a layer
    s(w) = I(w) U(w)                                      for each number w
    I(w) <- beta_1 I(w) + (1 - beta_1) |w dL/dw|          smoothed sensitivity
    U(w) <- beta_2 U(w) + (1 - beta_2) ||w dL/dw| - I(w)| its uncertainty

After each step all but the b(t) singular values with the largest scores, over all layers together,
are set to zero. They may grow again before the next step. b(t) falls from r_0 to `target_r`, times
the number of layers, as a cubic function of t, between the steps `tinit` and T - `tfinal`. A and B
are held orthogonal by an addition to the loss, the mean over all A and B of |A A^T - I| and
|B^T B - I| (Frobenius) times `orth_reg_weight` = 0.5. (The paper squares the norms and adds them.)

Zhang et al., 2023. AdaLoRA: Adaptive Budget Allocation for Parameter-Efficient Fine-Tuning, section
3. The tuner is PEFT's, with what is said below. Of PEFT:

- `total_step` (T) must be known before there is a training. It is a placeholder here, which the
  number of optimizer steps replaces.
- PEFT adds the orthogonality to every loss that the model returns, validation included. The
  harness takes its loss from the logits and adds the orthogonality in training alone.
- PEFT keeps the scale's r_0 as a parameter that begins to train once an adapter is cast or moved to
  another device, and that is not saved. Importing this file mends it, for PEFT's configuration.
- PEFT cuts a saved adapter by the last step's pattern of ranks, though the state of the lowest
  validation loss may be that of an earlier step. Here E is saved with its zeros, which say the same
  of the state that is kept, and a reloaded adapter computes the same to the bit. The ranks of that
  state are in the run folder; if it is an early one, they exceed the target.
- PEFT scores after the optimizer's step, so w is the stepped weight and dL/dw the gradient before
  it, clipped. This needs the engine torch; DeepSpeed keeps weights and gradients to itself. From
  step T - `tfinal` on it takes no more scores.
- A layer that no gradient reaches, as in a vision tower with text alone, would stop PEFT's scoring;
  its gradient counts as zero.

The configuration is that of the DyPAM paper's baseline: r_0 = 48 on all linear layers, as its
parameter percentages imply, and half of it, as in the RoSA paper's text, for the target that they
do not show. alpha is left at PEFT's default of 8.

Variants: `dypam-paper`; `rosa-paper`, PEFT's defaults of r_0 = 12 and a target of 8, because only
they give the printed percentages (0.396, 0.390, 0.437), while the text says 32 and 16 (1.05, 1.03,
1.16); `small` (r_0 = 8, target 4).
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

import torch
from peft import AdaLoraConfig, AdaLoraModel, PeftModel, PeftType
from peft.mapping import PEFT_TYPE_TO_TUNER_MAPPING
from peft.tuners.adalora import AdaLoraLayer
from torch import Tensor, nn
from transformers import PreTrainedModel

from methods.contract import Method
from methods.training.determinism import excepted
from methods.training.hooks import StepHooks, TrainingAhead
from methods.tuners.config import require
from methods.tuners.layers import fits_rank, targeted

PLACEHOLDER = 10**9
"""Stands for the number of steps until a training says it."""

SCORED = ("ipt", "exp_avg_ipt", "exp_avg_unc")
"""|w dL/dw|, I and U, as PEFT's rank allocator calls them: numbers by the name of the weight."""


class AdaLoRAModel(AdaLoraModel):
    """PEFT's tuner, whose scale does not train."""

    def _cast_adapter_dtype(self, adapter_name: str, autocast_adapter_dtype: bool = True) -> None:
        super()._cast_adapter_dtype(adapter_name, autocast_adapter_dtype)
        for layer in layers_of(self).values():
            layer.ranknum.requires_grad_(False)


PEFT_TYPE_TO_TUNER_MAPPING[PeftType.ADALORA] = AdaLoRAModel


def layers_of(model: nn.Module) -> dict[str, Any]:
    """Find the adapted layers by name."""
    return {name: m for name, m in model.named_modules() if isinstance(m, AdaLoraLayer)}


def config_of(model: PeftModel) -> Any:
    """Return the configuration of the active adapter."""
    return model.peft_config[model.active_adapter]


class Pruning(StepHooks):
    """Scores the singular values and sets the least to zero, by PEFT's rank allocator."""

    def __init__(self, model: PeftModel, ahead: TrainingAhead) -> None:
        self.model, self.adapter = model, model.active_adapter
        self.tuner: Any = model.base_model
        self.config = config_of(model)
        _check_steps(self.config, ahead.steps)
        self.config.total_step = ahead.steps
        self.pattern: Any = None

    def after_step(self, step: int) -> None:
        """Prune. The pattern is kept from the configuration, by which PEFT would cut the file."""
        for parameter in self.model.parameters():
            if parameter.requires_grad and parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        self.config.rank_pattern = self.pattern
        with excepted():
            self.tuner.update_and_allocate(step)
        self.pattern, self.config.rank_pattern = self.config.rank_pattern, None

    def state(self) -> dict[str, Any]:
        """Return the pattern of ranks, and what the scores are made of."""
        kept = {name: getattr(self.tuner.rankallocator, name) for name in SCORED}
        return {"pattern": self.pattern, **kept}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on pruning."""
        self.pattern = state["pattern"]
        device = next(self.model.parameters()).device
        for name in SCORED:
            kept = {weight: number.to(device) for weight, number in state[name].items()}
            setattr(self.tuner.rankallocator, name, kept)

    def record(self) -> dict[str, Any]:
        """Return the rank of each layer."""
        layers = layers_of(self.tuner.model).items()
        ranks = {name: int(layer.lora_E[self.adapter].count_nonzero()) for name, layer in layers}
        return {"ranks": ranks}


def _check_steps(config: AdaLoraConfig, steps: int) -> None:
    if config.total_step not in {PLACEHOLDER, steps}:
        raise ValueError(
            f"total_step is {config.total_step}, but the training has {steps} steps. Leave it out: "
            "it is set to the number of steps."
        )
    if config.tinit >= steps - config.tfinal:
        raise ValueError(
            f"tinit = {config.tinit} and tfinal = {config.tfinal} leave no step for pruning in a "
            f"training of {steps} steps."
        )


def orthogonality(model: PeftModel) -> Tensor:
    """Return the mean distance of all A A^T and B^T B from the identity, weighted."""
    adapter, layers = model.active_adapter, layers_of(model).values()
    rows = [layer.lora_A[adapter] for layer in layers]
    rows += [layer.lora_B[adapter].T for layer in layers]
    distances = [torch.linalg.norm(q @ q.T - _identity(len(q), q.dtype, q.device)) for q in rows]
    weight: float = config_of(model).orth_reg_weight
    return weight * torch.stack(distances).mean()


@cache
def _identity(size: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.eye(size, dtype=dtype, device=device)


def check(config: AdaLoraConfig, model: PreTrainedModel) -> None:
    """Check that the target is below the initial rank, and this not above the layers' sides.

    Raises:
        ValueError: Names the field, or the first layer that is too small.
    """
    below = f"at least 1 and below init_r = {config.init_r}"
    require(config, below, lambda rank: 1 <= rank < config.init_r, "target_r")
    fits_rank(config, model, "init_r")


def parameters(config: AdaLoraConfig, model: PreTrainedModel) -> int:
    """Count r_0 (in + out + 1) over the targeted layers."""
    layers = targeted(config, model).values()
    return sum(config.init_r * (layer.in_features + layer.out_features + 1) for layer in layers)


method = Method(
    title="AdaLoRA",
    paper="https://arxiv.org/abs/2303.10512",
    config=AdaLoraConfig,
    defaults={
        "init_r": 48,
        "target_r": 24,
        "target_modules": "all-linear",
        "total_step": PLACEHOLDER,
    },
    parameters=parameters,
    mergeable=True,
    quantized=("nf4", "int8"),
    check=check,
    auxiliary_loss=orthogonality,
    hooks=Pruning,
    zero_safe=False,
    variants={
        "dypam-paper": {},
        "rosa-paper": {"init_r": 12, "target_r": 8},
        "small": {"init_r": 8, "target_r": 4},
    },
)
