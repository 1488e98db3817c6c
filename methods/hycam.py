"""HyCAM: modulate the attention output by a shared and several routed contextual modules (CAM).

    A_shared = SiLU(W_shared h)                                                         eq. 5
    A_k      = SiLU(W_k h)   with W_k = B_k N_k A_k,  k = 1 .. N_s                      eq. 6, 7
    logits   = W_router h                                                               eq. 8
    p        = softmax((logits + g) / tau)   with g ~ Gumbel(0, 1), at evaluation 0     eq. 9
    L        = L_task + lambda sum_k mean(p_k) mean(softmax(logits)_k)                  eq. 10, 14
    A        = A_shared + sum_k p_k A_k                                                 eq. 11
    h_out    = h_att + h_att * A                                                        eq. 12

h, of shape (d,), is the normalised hidden state of a token that the attention module receives, and
h_att, of shape (d,), what the module returns for it. CAM (eq. 2, 4) is the shared module alone,
here `hycam:shared-only`. W_shared (d, d) and B_k (d, r) start at zero, so that A = 0 and training
starts at the base; A_k (r, d) and N_k (r, r) uniform as Kaiming with a = sqrt 5; W_router (N_s, d)
normal with standard deviation 0.02. One layer has

    d^2 + N_s (2 d r + r^2) + N_s d

parameters, and the norm weights of the layer where `train_norms` is set. A token's modulation
depends on that token alone, so decoding can cache keys and values. It cannot be merged. Without
gradient checkpointing, training keeps 2 N_s activations of width d for each token and layer.

Contextual Attention Modulation: Towards Efficient Multi-Task Adaptation in Large Language Models,
CIKM 2025, arXiv 2510.17705, sections 3.2 to 3.4. What the paper leaves open, and the choice made:

- Noise at evaluation: none; the weights are softmax(logits / tau) there.
- Eq. 9 takes the logarithm of what eq. 8 calls logits, which can be negative. The noise is added
  to the logits themselves, as Gumbel-softmax is defined.
- The balance loss: the mean over the layers of eq. 10, whose means are over all tokens of a batch.
  Padding counts, since an adapter cannot tell it from text.
- Start of the router: that of the released code, whose model class draws it so.
- Gemma 2 and 3 normalise the attention output before they add it to the residual: h_att is the
  output of the attention module, before that norm.

The released code does otherwise, and the variant `code` does as it does: (residual + h_att) is
modulated instead of h_att; routing is hard, one-hot with straight-through gradients; the noise
stays on at evaluation, so that answers are random and repeat only under the same seed of torch; the
router stays at its random start; there is no balance loss; W_k is multiplied by 32 / r, which is
0.5 at r = 64; the modules have biases, zero at the start (the router's never leaves zero, and is
left out here); the norms are trained.

Variants: `shared-only`, `full-spec`, `spec-only` and `inverse-peft` are the paper's ablations,
section 4.5: CAM alone; W_k of shape (d, d) too, zero at the start; no shared module; low-rank
W_shared and full W_k. `code`, as above.
"""

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, silu
from transformers import PreTrainedModel

from methods.contract import Method
from methods.tuners.adapter import Adapter
from methods.tuners.attention import (
    AttentionLayer,
    AttentionTuner,
    is_rotary,
    layer_norm_parameters,
)
from methods.tuners.config import NativeConfig, require
from methods.tuners.peft_types import register
from methods.tuners.routing import Routed, RoutedTuner, RouterWeights, auxiliary_loss

Form = Literal["full", "low-rank", "none"]
Routing = Literal["soft", "hard"]


@dataclass
class HyCAMConfig(NativeConfig):
    """Hyperparameters of HyCAM, section "Implementation Details" of the paper.

    Attributes:
        shared: Form of the shared module: a full matrix, low-rank, or no such module.
        specialised: Form of the specialised modules; without them there is no router either.
        modules: Number of specialised modules (N_s).
        r: Rank of what is low-rank.
        scale: Factor of what is low-rank: W = scale B N A.
        biases: Whether the modules' matrices, and a router that is trained, have biases.
        tau: Temperature of the routing: the lower, the nearer to a choice of one module.
        routing: Whether the specialised modules are mixed, or the likeliest one is taken and
            gradients flow as if they were mixed.
        noise_at_evaluation: Whether the Gumbel noise stays on outside training.
        train_router: Whether the router is trained, or stays at its random start.
        lambda_balance: Factor of the balance loss.
        residual: Whether the sum of residual and attention output is modulated, which needs a
            model that adds the two without a norm in between.
        train_norms: Whether the norms of each decoder layer are trained too.
        seed: Decides the start of a router that is not trained, together with the layer's number.
        target_modules: Names of the attention modules; those without RoPE, as in a vision tower,
            are left alone.
    """

    peft_type = "HYCAM"

    shared: Form = "full"
    specialised: Form = "low-rank"
    modules: int = 5
    r: int = 64
    scale: float = 1.0
    biases: bool = False
    tau: float = 0.5
    routing: Routing = "soft"
    noise_at_evaluation: bool = False
    train_router: bool = True
    lambda_balance: float = 0.1
    residual: bool = False
    train_norms: bool = False
    seed: int = 0
    target_modules: set[str] | str = field(default_factory=lambda: {"self_attn"})

    @property
    def draws_at_evaluation(self) -> bool:
        """Whether what is computed in an evaluation depends on chance."""
        return self.noise_at_evaluation

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shared == self.specialised == "none":
            raise ValueError(
                "Nothing is left to train: keep the shared or the specialised modules."
            )
        require(self, "at least 1", lambda value: value >= 1, "modules", "r")
        require(self, "above 0", lambda value: value > 0, "scale", "tau")
        require(self, "at least 0", lambda value: value >= 0, "lambda_balance", "seed")


class Full(nn.Module):
    """Projections of n modules, each by a matrix (d, d): one product for all."""

    def __init__(self, n: int, d: int, config: HyCAMConfig) -> None:
        super().__init__()
        self.W = nn.Parameter(torch.zeros(n, d, d))
        self.W_bias = zeros(config, n, d)

    def forward(self, h: Tensor) -> Tensor:
        """Map hidden states (..., d) to the inputs of SiLU (..., n, d)."""
        return stacked(h, self.W, self.W_bias)


class LowRank(nn.Module):
    """Projections of n modules, each by B N A (SLoRA): one product for all A, N and B each."""

    def __init__(self, n: int, d: int, config: HyCAMConfig) -> None:
        super().__init__()
        self.scale = config.scale
        self.A = nn.Parameter(kaiming(n, config.r, d))
        self.N = nn.Parameter(kaiming(n, config.r, config.r))
        self.B = nn.Parameter(torch.zeros(n, d, config.r))
        self.A_bias = zeros(config, n, config.r)
        self.N_bias = zeros(config, n, config.r)
        self.B_bias = zeros(config, n, d)

    def forward(self, h: Tensor) -> Tensor:
        """Map hidden states (..., d) to the inputs of SiLU (..., n, d)."""
        features = one_by_one(stacked(h, self.A, self.A_bias), self.N, self.N_bias)
        bias = None if self.B_bias is None else self.scale * self.B_bias
        return one_by_one(self.scale * features, self.B, bias)


def kaiming(n: int, rows: int, columns: int) -> Tensor:
    """Draw n matrices uniform as Kaiming with a = sqrt 5, which would take the stack for one."""
    bound = 1 / math.sqrt(columns)
    return torch.empty(n, rows, columns).uniform_(-bound, bound)


def zeros(config: HyCAMConfig, *shape: int) -> nn.Parameter | None:
    """Make the biases of n modules, if they have any."""
    return nn.Parameter(torch.zeros(shape)) if config.biases else None


def stacked(h: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Multiply (..., in) by each of n matrices (n, out, in): (..., n, out)."""
    flat = None if bias is None else bias.flatten()
    product: Tensor = linear(h, weight.flatten(0, 1), flat).unflatten(-1, weight.shape[:2])
    return product


def one_by_one(h: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Multiply n vectors (..., n, in) by a matrix (n, out, in) each: (..., n, out)."""
    product = torch.einsum("...ki,koi->...ko", h, weight)
    return product if bias is None else product + bias


FORMS = {"full": Full, "low-rank": LowRank}


class Router(Routed):
    """The weights of the specialised modules of one layer, eq. 8 and 9.

    What is kept is lambda times the balance loss; None where lambda is 0.
    """

    def __init__(self, d: int, layer: int, config: HyCAMConfig) -> None:
        super().__init__()
        self.tau, self.hard = config.tau, config.routing == "hard"
        self.noise_at_evaluation = config.noise_at_evaluation
        self.lambda_balance = config.lambda_balance
        self.bias = None
        if config.train_router:
            self.weight = nn.Parameter(0.02 * torch.randn(config.modules, d))
            self.bias = zeros(config, config.modules)
        else:
            generator = torch.Generator().manual_seed(config.seed + layer)
            start = torch.randn(config.modules, d, generator=generator, device="cpu")
            self.register_buffer("weight", 0.02 * start)

    def forward(self, h: Tensor) -> Tensor:
        """Map hidden states (..., d) to weights (..., N_s) that add up to 1."""
        logits = linear(h, self.weight, self.bias)
        weights = self._weights(logits)
        if self.training:
            flat = weights.flatten(0, -2)
            self.keep(flat, self._balance(logits.flatten(0, -2), flat))
        return weights

    def _weights(self, logits: Tensor) -> Tensor:
        if self.training or self.noise_at_evaluation:
            # The logarithm of an exponential variable is a Gumbel variable with its sign turned.
            logits = logits - torch.empty_like(logits).exponential_().log()
        soft = (logits / self.tau).softmax(-1)
        if not self.hard:
            return soft
        one_hot = torch.zeros_like(soft).scatter(-1, soft.argmax(-1, keepdim=True), 1.0)
        return one_hot + (soft - soft.detach())

    def _balance(self, logits: Tensor, weights: Tensor) -> Tensor | None:
        balance = (weights.mean(0) * logits.softmax(-1).mean(0)).sum()
        return self.lambda_balance * balance if self.lambda_balance else None


class HyCAM(Adapter):
    """The modulation A of one layer."""

    def __init__(self, attention: Any, config: HyCAMConfig) -> None:
        super().__init__()
        d = attention.q_proj.in_features
        self.residual = config.residual
        self.shared = self.specialised = self.router = None
        if config.shared != "none":
            self.shared = FORMS[config.shared](1, d, config)
        if config.specialised != "none":
            self.specialised = FORMS[config.specialised](config.modules, d, config)
            self.router = Router(d, attention.layer_idx, config)

    def forward(self, h: Tensor) -> Tensor:
        """Map hidden states (..., d) to the modulation (..., d) of the attention output."""
        parts = []
        if self.shared is not None:
            parts.append(silu(self.shared(h)).squeeze(-2))
        if self.specialised is not None and self.router is not None:
            modulations = silu(self.specialised(h))
            parts.append(torch.einsum("...k,...kd->...d", self.router(h), modulations))
        return sum(parts[1:], start=parts[0])


class HyCAMLayer(AttentionLayer):
    """Modulates what the attention module returns."""

    def watch(self, decoder_layer: nn.Module) -> None:
        """Note where the residual comes from."""
        # In a tuple, as a module would become a child of its own child.
        self._decoder_layer = (decoder_layer,)
        self._residual: list[Tensor] = []

    def hook(self) -> None:
        """Watch the input of the input norm, which is the residual, if an adapter needs it."""
        if any(adapter.residual for adapter in self.adapter_modules.values()):
            norm: Any = self._decoder_layer[0].input_layernorm
            self.hooks = [norm.register_forward_pre_hook(partial(_note, self._residual))]

    def unhook(self) -> None:
        """Stop watching."""
        for hook in self.hooks:
            hook.remove()

    def forward(self, hidden_states: Tensor, *args: Any, **kwargs: Any) -> Any:
        """Attend as the base layer does, and modulate the output."""
        h_att, *rest = self.base_layer(hidden_states, *args, **kwargs)
        for adapter in self.active():
            modulation = adapter(hidden_states.to(adapter.dtype)).to(h_att.dtype)
            modulated = self._residual[0] + h_att if adapter.residual else h_att
            h_att = h_att + modulated * modulation
        self._residual.clear()
        return h_att, *rest


def _note(noted: list[Tensor], module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
    noted[:] = inputs


class HyCAMModel(RoutedTuner, AttentionTuner):
    """Puts a `HyCAM` on every attention module."""

    layer = HyCAMLayer
    adapter = HyCAM
    not_mergeable = "its modulation depends on the token."

    def _prepare_model(self, peft_config: Any, model: nn.Module) -> None:
        super()._prepare_model(peft_config, model)
        for key, module in model.named_modules():
            if peft_config.residual and is_rotary(module):
                layer = key.removesuffix(".base_layer").rpartition(".")[0]
                _check_norms(layer, model.get_submodule(layer))

    def inject_adapter(self, *args: Any, **kwargs: Any) -> None:
        """Put an adapter on the model.

        Where it trains the norms, copies take their place: hooks are on what is called then.
        """
        for layer in self._layers():
            layer.unhook()
        try:
            super().inject_adapter(*args, **kwargs)
        finally:
            for layer in self._layers():
                layer.hook()

    def _layers(self) -> list[HyCAMLayer]:
        return [layer for layer in self.model.modules() if isinstance(layer, HyCAMLayer)]

    def routers(self) -> dict[str, Routed]:
        """List the routers of the active adapters by the name of their layer."""
        routers = {name: adapter.router for name, adapter in self.adapters().items()}
        return {name: router for name, router in routers.items() if router is not None}


def _check_norms(name: str, layer: nn.Module) -> None:
    """Check that a decoder layer adds the attention output to the residual as it is.

    Raises:
        ValueError: It has a norm in between; names its norms.
    """
    norms = [child for child, _ in layer.named_children() if child.endswith("norm")]
    if sorted(norms) != ["input_layernorm", "post_attention_layernorm"]:
        raise ValueError(
            f"{name}: residual = True needs a layer that adds the attention output to the residual "
            "without a norm in between, with input_layernorm and post_attention_layernorm as its "
            f"only norms, as in Llama, Qwen or Mistral; this one has {', '.join(norms)}."
        )


register(HyCAMConfig, HyCAMModel)


def parameters(config: HyCAMConfig, model: PreTrainedModel) -> int:
    """Count the formula of the module docstring over the layers."""
    shape = model.config.get_text_config()
    d, r, modules = shape.hidden_size, config.r, config.modules
    sizes = {
        "full": d * d + config.biases * d,
        "low-rank": 2 * d * r + r * r + config.biases * (2 * r + d),
        "none": 0,
    }
    layer = sizes[config.shared] + modules * sizes[config.specialised]
    if config.specialised != "none" and config.train_router:
        layer += modules * (d + config.biases)
    norms = layer_norm_parameters(model) if config.train_norms else 0
    return int(shape.num_hidden_layers * layer + norms)


method = Method(
    title="HyCAM",
    paper="https://arxiv.org/abs/2510.17705",
    config=HyCAMConfig,
    parameters=parameters,
    mergeable=False,
    quantized=("nf4", "int8"),
    by_token=lambda config: not config.noise_at_evaluation,
    unpacked="its balance loss is over all tokens of a batch, padding included",
    auxiliary_loss=auxiliary_loss,
    hooks=RouterWeights,
    variants={
        "shared-only": {"specialised": "none"},
        "full-spec": {"specialised": "full"},
        "spec-only": {"shared": "none"},
        "inverse-peft": {"shared": "low-rank", "specialised": "full"},
        "code": {
            "scale": 0.5,
            "biases": True,
            "routing": "hard",
            "noise_at_evaluation": True,
            "train_router": False,
            "lambda_balance": 0.0,
            "residual": True,
            "train_norms": True,
        },
    },
)
