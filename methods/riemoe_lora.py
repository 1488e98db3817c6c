"""RieMoE-LoRA: a mixture of LoRA experts, trained by preconditioned gradients.

    y = W x + (alpha / r) sum_e g_e(x) B_e A_e x
    g(x) = softmax of the top_k largest of the scores W_g x, 0 for the other experts

    grad A_e <- (B_e^T B_e + 1e-6 I)^-1 grad A_e          Riemannian preconditioner,
    grad B_e <- grad B_e (A_e A_e^T + 1e-6 I)^-1          before each optimizer step

With E experts: A_e of shape (r, in), uniform as Kaiming; B_e of shape (out, r), zero, so that
training starts at W; the gate W_g of shape (E, in), without bias, uniform as Kaiming. (To take the
softmax over the chosen experts is to take it over all, keep top_k and renormalise.)
E r (in + out) + E in parameters a layer. The gate depends on the token, and on it alone, so the
update cannot be merged but is cached and padded like any linear layer.

Gate rescaling: g_e enters what a step of expert e does to the output twice, by the gradient and by
the weight of its output, which holds back experts of small weight. So the gradient that reaches
B_e, A_e and, through them, x is weighted by sqrt(g_e) instead of g_e, which makes it g_e^1.5 in
place of g_e^2. The value of the output and the gradient of the gate stay what they are. With
s = sqrt(g) held constant and z = B_e A_e x,

    g z = s z + (g - s) stop(z)

Sun et al., ICML 2025. A Stronger Mixture of Low-Rank Experts for Fine-Tuning Foundation Models,
arXiv 2502.15828. Start values and defaults are those of the official code (20 experts of rank 4,
top 10, alpha 16, dropout 0.05, on q, k, v and o). Where that code is of two minds or does what this
harness does not, and the choice made:

- Its AdamW preconditions B with the A that it has just moved, its SGD with the A of before. Both
  gradients are preconditioned here with the parameters of before, in one go.
- Where a system cannot be solved, the gradient of that expert stays as it is, as there.
- Clipping comes after it, over all parameters, as the harness does for every method. The official
  code clips the gate's gradient only. While B is small, (B^T B)^-1 is large, the norm to clip is
  that of A's gradient, and the others shrink with it, by a factor that falls from step to step, so
  that AdamW does not quite undo it: on a small model clipped at 1, B and gate moved 0.6 times as
  far in the first 20 steps as with plain gradients.
- Experts and gate train at one learning rate. The official code gives the experts 1e-5 (AdamW) and
  the gate 3e-8, at which no weight of the gate moves by more than about 1e-4 in its 2,000 steps: a
  gate that stays where it started. Here it learns.
- Its AdamW has no bias correction and eps 1e-6; here it is the harness's AdamW.
- Dropout draws one mask for all experts of a layer; there one for each.
- top_k = 1 is refused: a renormalised gate over one expert is 1, and W_g would get no gradient.

Variants: `no-riemannian` (plain gradients), `no-gate-rescaling` (the paper's baseline, a Riemannian
preconditioner for each expert on its own); both fields off are MoE-LoRA. `hycam-paper` (5 experts
of rank 64 on all linear layers; HyCAM gives neither top_k, which is 2 here as is common, nor alpha,
which stays).
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from peft import PeftModel
from torch import Tensor, nn
from torch.autograd import Function
from torch.nn import functional
from transformers import PreTrainedModel

from methods.contract import Method
from methods.training.hooks import StepHooks, TrainingAhead
from methods.tuners.adapter import Adapter
from methods.tuners.autocast import without_autocast
from methods.tuners.config import NativeConfig, require
from methods.tuners.dropout import Dropout
from methods.tuners.layers import targeted
from methods.tuners.linear import LinearTuner
from methods.tuners.peft_types import register

DAMPING = 1e-6
"""What is added to the diagonal of a preconditioner, so that it has an inverse."""


@dataclass
class RieMoELoRAConfig(NativeConfig):
    """Hyperparameters of RieMoE-LoRA.

    Attributes:
        experts: Experts of a layer (E).
        r: Rank of each.
        top_k: Experts that a token uses; at least 2.
        alpha: The update is scaled by alpha / r.
        dropout: Probability with which an entry of the experts' input is dropped in training.
        gate_rescaling: Whether an expert's gradient is weighted by sqrt(g) instead of g.
        riemannian: Whether the experts' gradients are preconditioned.
        target_modules: Names of the linear layers, or "all-linear".
    """

    peft_type = "RIEMOE_LORA"

    experts: int = 20
    r: int = 4
    top_k: int = 10
    alpha: float = 16.0
    dropout: float = 0.05
    gate_rescaling: bool = True
    riemannian: bool = True
    target_modules: set[str] | str = field(
        default_factory=lambda: {"q_proj", "k_proj", "v_proj", "o_proj"}
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "at least 1", lambda value: value >= 1, "r")
        most = self.experts
        require(self, f"above 1 and at most experts = {most}", lambda k: 1 < k <= most, "top_k")
        require(self, "above 0", lambda value: value > 0, "alpha")
        require(self, "at least 0 and below 1", lambda value: 0 <= value < 1, "dropout")


class RieMoELoRA(Adapter):
    """The experts of one layer and their gate.

    Attributes:
        A: Of all experts, (E, r, in).
        B: Of all experts, (out, E, r).
        gate: W_g, a linear map with a weight of (E, in).
    """

    def __init__(self, linear: nn.Linear, config: RieMoELoRAConfig) -> None:
        super().__init__()
        self.config, size, out = config, linear.in_features, linear.out_features
        if config.r > min(size, out):
            raise ValueError(f"r may be at most {min(size, out)} here, not {config.r}.")
        start = torch.empty(config.experts, config.r, size).uniform_(-(size**-0.5), size**-0.5)
        self.A = nn.Parameter(start)
        self.B = nn.Parameter(torch.zeros(out, config.experts, config.r))
        self.gate = nn.Linear(size, config.experts, bias=False)
        self.dropout = Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., in) to the weighted sum of the experts (..., out)."""
        g = self.weights(x)
        h = functional.linear(self.dropout(x), self.A.flatten(0, 1)).unflatten(-1, self.A.shape[:2])
        scale = self.config.alpha / self.config.r
        if not (self.config.gate_rescaling and torch.is_grad_enabled()):
            return scale * _mix(g, h, self.B)
        y: Tensor = Rescaled.apply(g, h, self.B)  # type: ignore[no-untyped-call]
        return scale * y

    def weights(self, x: Tensor) -> Tensor:
        """Weigh the experts (..., E) for each token of (..., in)."""
        scores = self.gate(x)
        top, chosen = scores.topk(self.config.top_k, dim=-1)
        return torch.zeros_like(scores).scatter(-1, chosen, top.softmax(dim=-1))

    def precondition(self) -> None:
        """Precondition the gradients of A and B, if there are any."""
        if self.A.grad is None or self.B.grad is None:
            return  # as in a vision tower that is fed text only
        A, B = self.A.detach(), self.B.detach().transpose(0, 1)  # noqa: N806 (the paper's symbols)
        of_a, of_b = _inverses(torch.stack([_gram(B.mT), _gram(A)]))
        self.A.grad.copy_(of_a @ self.A.grad.to(of_a.dtype))
        self.B.grad.transpose(0, 1).copy_(self.B.grad.transpose(0, 1).to(of_b.dtype) @ of_b)


def _mix(g: Tensor, h: Tensor, B: Tensor) -> Tensor:  # noqa: N803 (the paper's symbol)
    """Map features (..., E, r), weighted by (..., E), to the sum of the experts (..., out)."""
    return functional.linear((g.unsqueeze(-1) * h).flatten(-2), B.flatten(1))


class Rescaled(Function):
    """The sum of the experts, whose gradient is weighted by sqrt(g) but for that of g itself."""

    @staticmethod
    def forward(ctx: Any, g: Tensor, h: Tensor, B: Tensor) -> Tensor:  # noqa: N803
        """Return sum_e g_e B_e h_e."""
        ctx.save_for_backward(g, h, B)
        return _mix(g, h, B)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the gradients of g, h and B."""
        g, h, B = ctx.saved_tensors  # noqa: N806
        s = g.sqrt().unsqueeze(-1)
        with without_autocast(h):
            y = gradients[0].to(B.dtype)
            z = (y @ B.flatten(1)).unflatten(-1, B.shape[1:])
            of_b = y.reshape(-1, len(B)).T @ (s * h).to(B.dtype).reshape(-1, B[0].numel())
        return (z * h).sum(-1).to(g.dtype), (s * z).to(h.dtype), of_b.view_as(B)


def _gram(F: Tensor) -> Tensor:  # noqa: N803 (a matrix)
    """Return F F^T + 1e-6 I of each expert, (E, r, r), in float32 or better; F is (E, r, size)."""
    F = F.to(torch.promote_types(F.dtype, torch.float32))  # noqa: N806
    return F @ F.mT + DAMPING * torch.eye(F.shape[1], dtype=F.dtype, device=F.device)


def _inverses(systems: Tensor) -> Tensor:
    """Invert matrices (..., r, r), or leave a gradient as it is where that fails."""
    inverse, failed = torch.linalg.inv_ex(systems)
    one = torch.eye(systems.shape[-1], dtype=systems.dtype, device=systems.device)
    return torch.where(failed.bool()[..., None, None], one, inverse)


class RieMoELoRAModel(LinearTuner):
    """Puts a `RieMoELoRA` beside every targeted linear layer."""

    adapter = RieMoELoRA
    not_mergeable = "the weights of its experts depend on the token."


register(RieMoELoRAConfig, RieMoELoRAModel)


@dataclass(frozen=True)
class Preconditioner(StepHooks):
    """Preconditions the gradients of all experts before each optimizer step."""

    model: PeftModel
    ahead: TrainingAhead

    def after_backward(self, step: int) -> None:
        """Precondition them."""
        tuner: Any = self.model.base_model
        for adapter in tuner.adapters().values():
            if adapter.config.riemannian:
                adapter.precondition()


def parameters(config: RieMoELoRAConfig, model: PreTrainedModel) -> int:
    """Count E r (in + out) + E in over the targeted layers."""
    return config.experts * sum(
        config.r * (layer.in_features + layer.out_features) + layer.in_features
        for layer in targeted(config, model).values()
    )


method = Method(
    title="RieMoE-LoRA",
    paper="https://arxiv.org/abs/2502.15828",
    config=RieMoELoRAConfig,
    parameters=parameters,
    mergeable=False,
    quantized=("nf4", "int8"),
    hooks=Preconditioner,
    variants={
        "no-riemannian": {"riemannian": False},
        "no-gate-rescaling": {"gate_rescaling": False},
        "hycam-paper": {"experts": 5, "r": 64, "top_k": 2, "target_modules": "all-linear"},
    },
)
