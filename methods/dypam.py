"""DyPAM: scale each rotary pair of the queries and keys by a factor that the token decides.

    m_th  = (B A x_t)_h                                      features of token t, head h    eq. 6
    g_th  = E m_th + beta_h + beta                           score of each rotary pair      eq. 8-12
    s_th  = 1 + alpha (sigmoid(g_th) - 1/2)                  in [1 - alpha/2, 1 + alpha/2]  eq. 13
    q_thi <- s_thi q_thi   for both dimensions of pair i, before RoPE; k likewise           eq. 14

x_t is the input of the query and key projections, of shape (d,). Queries and keys have weights of
their own: A of shape (r, d), uniform as Kaiming; B of shape (heads d_e, r), zero; E of shape
(d_head / 2, d_e), uniform as Kaiming; beta_h (heads, d_head / 2) and beta (d_head / 2), zero. So
g = 0 and s = 1 at the start, and B gets a gradient because E is not zero. With H query and K key
heads, one layer has

    2 d r + r d_e (H + K) + d_e d_head + (H + K + 2) d_head / 2

parameters. A token's factor depends on that token alone, so modulated keys can be cached. Because
both dimensions of a pair share s, the modulation commutes with RoPE. It cannot be merged.

Dynamic Positional Attention Modulation, KDD 2026, section 4, algorithm 1. What the paper leaves
open, and the choice made:

- One projection for queries and keys (eq. 6), or two: two, that of the keys sized to the key heads.
  Only so do the printed percentages and FLOPs (table 7) come out.
- Before or after QK-norm (Qwen3, Gemma 3): after it, right before RoPE, since a norm would take
  back part of the scaling.
- Start values: as above, the identity.
- Key biases per query head or per key head: per key head, the heads that have a key to scale.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from peft import PeftConfig
from peft.tuners.tuners_utils import BaseTuner, BaseTunerLayer
from torch import Tensor, nn
from transformers import PreTrainedModel

from methods.base import Method, register


@dataclass
class DyPAMConfig(PeftConfig):
    """Hyperparameters of DyPAM, section "Implementation Details" of the paper.

    Attributes:
        r: Rank of the projection from hidden state to features.
        d_e: Features per head.
        alpha: Modulation strength: factors lie within 1 - alpha/2 and 1 + alpha/2.
        target_modules: Names of the attention modules.
    """

    peft_type = "DYPAM"

    r: int = 128
    d_e: int = 64
    alpha: float = 0.3
    target_modules: set[str] | str = field(default_factory=lambda: {"self_attn"})

    def __post_init__(self) -> None:
        super().__post_init__()  # type: ignore[no-untyped-call]
        self.peft_type = DyPAMConfig.peft_type
        if min(self.r, self.d_e) < 1:
            raise ValueError(f"r and d_e must be at least 1, not {self.r} and {self.d_e}.")
        if not isinstance(self.target_modules, str):
            self.target_modules = set(self.target_modules)


class Modulation(nn.Module):
    """The factors of the queries, or of the keys, of one layer."""

    def __init__(self, d: int, heads: int, d_head: int, config: DyPAMConfig) -> None:
        super().__init__()
        self.heads, self.alpha = heads, config.alpha
        self.A = nn.Linear(d, config.r, bias=False)
        self.B = nn.Linear(config.r, heads * config.d_e, bias=False)
        self.E = nn.Linear(config.d_e, d_head // 2, bias=False)
        self.head_bias = nn.Parameter(torch.zeros(heads, d_head // 2))
        self.layer_bias = nn.Parameter(torch.zeros(d_head // 2))
        nn.init.zeros_(self.B.weight)

    def forward(self, x: Tensor) -> Tensor:
        """Map hidden states (batch, tokens, d) to factors (batch, tokens, heads, d_head)."""
        m = self.B(self.A(x.to(self.A.weight.dtype))).unflatten(-1, (self.heads, -1))
        g = self.E(m) + self.head_bias + self.layer_bias
        s = 1 + self.alpha * (torch.sigmoid(g) - 0.5)
        return torch.cat([s, s], dim=-1)  # pair i is dimensions i and i + d_head / 2


class DyPAMLayer(nn.Module, BaseTunerLayer):
    """An attention module whose queries and keys are modulated before RoPE.

    The factors reach them by forward hooks on the last module before RoPE: the QK-norms where the
    attention has them, else the projections.
    """

    adapter_layer_names = ("dypam_query", "dypam_key")

    def __init__(self, base_layer: nn.Module, adapter_name: str, config: DyPAMConfig) -> None:
        super().__init__()
        self.base_layer = base_layer
        self.dypam_query = nn.ModuleDict()
        self.dypam_key = nn.ModuleDict()
        self._hidden: Tensor | None = None
        self.hooks = [
            module.register_forward_hook(partial(self._modulate, kind))
            for kind, module in self._before_rope().items()
        ]
        self.update_layer(adapter_name, config)

    def update_layer(self, adapter_name: str, config: DyPAMConfig) -> None:
        """Add the adapter `adapter_name`, and train it."""
        attention: Any = self.base_layer
        d, d_head = attention.q_proj.in_features, attention.head_dim
        for modules, projection in (
            (self.dypam_query, attention.q_proj),
            (self.dypam_key, attention.k_proj),
        ):
            heads = projection.out_features // d_head
            modules[adapter_name] = Modulation(d, heads, d_head, config)
        device = attention.q_proj.weight.device
        self._move_adapter_to_device_of_base_layer(adapter_name, device=device)
        self.set_adapter(self.active_adapters)

    def forward(self, hidden_states: Tensor, *args: Any, **kwargs: Any) -> Any:
        """Attend as the base layer does, over modulated queries and keys."""
        if self.disable_adapters:
            return self.base_layer(hidden_states, *args, **kwargs)
        self._hidden = hidden_states
        try:
            return self.base_layer(hidden_states, *args, **kwargs)
        finally:
            self._hidden = None

    def _before_rope(self) -> dict[str, nn.Module]:
        attention: Any = self.base_layer
        if hasattr(attention, "q_norm"):
            return {"dypam_query": attention.q_norm, "dypam_key": attention.k_norm}
        return {"dypam_query": attention.q_proj, "dypam_key": attention.k_proj}

    def _modulate(
        self, kind: str, module: nn.Module, inputs: tuple[Tensor, ...], states: Tensor
    ) -> Tensor:
        """Scale `states`: (batch, tokens, heads d_head), or with heads apart from d_head."""
        if self._hidden is None:
            return states
        for name in self.active_adapters:
            modulations: nn.ModuleDict = getattr(self, kind)
            if name in modulations:
                factors = modulations[name](self._hidden).to(states.dtype)
                states = states * _laid_out_as(inputs[0], states, factors)
        return states


def _laid_out_as(inputs: Tensor, states: Tensor, factors: Tensor) -> Tensor:
    """Reshape factors (batch, tokens, heads, d_head) to the layout of `states`."""
    if states.ndim < factors.ndim:
        return factors.flatten(2)
    tokens, heads = factors.shape[1:3]
    # Qwen3 normalises before it moves the heads in front of the tokens, Gemma 3 after. With as
    # many tokens as heads only the strides of the norm's input tell.
    heads_first = (
        states.shape[1] == heads if tokens != heads else inputs.stride(1) < inputs.stride(2)
    )
    return factors.transpose(1, 2) if heads_first else factors


class DyPAMModel(BaseTuner):
    """Puts a `DyPAMLayer` around every attention module."""

    prefix = "dypam_"
    tuner_layer_cls = DyPAMLayer
    target_module_mapping: dict[str, list[str]] = {}  # noqa: RUF012 (an attribute of PEFT's)

    def _create_and_replace(  # noqa: PLR0913, PLR0917 (the signature is PEFT's)
        self,
        peft_config: Any,
        adapter_name: str,
        target: nn.Module,
        target_name: str,
        parent: nn.Module,
        current_key: str,
        parameter_name: str | None = None,
    ) -> None:
        if isinstance(target, DyPAMLayer):
            target.update_layer(adapter_name, peft_config)
        else:
            setattr(parent, target_name, DyPAMLayer(target, adapter_name, peft_config))

    def _replace_module(
        self, parent: nn.Module, child_name: str, new_module: nn.Module, child: DyPAMLayer
    ) -> None:
        for hook in child.hooks:
            hook.remove()
        setattr(parent, child_name, new_module)

    def _check_merge_allowed(self) -> None:
        raise ValueError(
            "DyPAM cannot be merged: its factors depend on the token. Keep the adapter, or take "
            "it off with `unload()`."
        )


register(DyPAMConfig, DyPAMModel)


def parameters(config: DyPAMConfig, model: PreTrainedModel) -> int:
    """Count the formula of the module docstring over the layers."""
    shape = model.config.get_text_config()
    d, heads, keys = shape.hidden_size, shape.num_attention_heads, shape.num_key_value_heads
    d_head = getattr(shape, "head_dim", None) or d // heads
    features = 2 * d * config.r + config.r * config.d_e * (heads + keys)
    scores = config.d_e * d_head + (heads + keys + 2) * d_head // 2
    return int(shape.num_hidden_layers * (features + scores))


method = Method(
    title="DyPAM",
    paper="https://arxiv.org/abs/2610.07848",
    config=DyPAMConfig,
    defaults={},
    parameters=parameters,
    mergeable=False,
)
