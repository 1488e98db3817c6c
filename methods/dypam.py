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

parameters, and the norm weights of the layer where `train_norms` is set. A token's factor depends
on that token alone, so modulated keys can be cached. Because both dimensions of a pair share s, the
modulation commutes with RoPE. It cannot be merged.

Dynamic Positional Attention Modulation, KDD 2026, section 3, algorithm 1. What the paper leaves
open, and the choice made:

- One projection for queries and keys (eq. 6), or two: two, that of the keys sized to the key heads.
  Only so do the printed percentages and FLOPs (table 7 of the camera-ready) come out.
- Before or after QK-norm (Qwen3, Gemma 3): after it, right before RoPE, since a norm would take
  back part of the scaling.
- Start values: as above, the identity.
- Key biases per query head or per key head: per key head, the heads that have a key to scale.
- Whether the norms train: the text trains none, the percentages count those of every layer. Text;
  `train_norms` trains them.

Variants: `no-input`, `no-head-bias`, `no-layer-bias` (the ablations of the paper's section 4.4);
`dypam-paper` counts as its tables do, norms included.
"""

from dataclasses import dataclass, field
from typing import Any

import torch
from peft import PeftConfig
from torch import Tensor, nn
from transformers import PreTrainedModel

from methods.contract import Method, register, require
from methods.tuners.adapter import Adapter
from methods.tuners.attention import (
    AttentionTuner,
    QueryKeyLayer,
    attention_shape,
    layer_norm_parameters,
)


@dataclass
class DyPAMConfig(PeftConfig):
    """Hyperparameters of DyPAM, section "Implementation Details" of the paper.

    Attributes:
        r: Rank of the projection from hidden state to features.
        d_e: Features per head.
        alpha: Modulation strength: factors lie within 1 - alpha/2 and 1 + alpha/2.
        input_conditioned: Whether the scores depend on the token, or on the biases only.
        head_bias: Whether each head has a bias.
        layer_bias: Whether the layer has a bias, shared by its heads.
        train_norms: Whether the norms of each decoder layer are trained too.
        target_modules: Names of the attention modules; those without RoPE, as in a vision tower,
            are left alone.
    """

    peft_type = "DYPAM"

    r: int = 128
    d_e: int = 64
    alpha: float = 0.3
    input_conditioned: bool = True
    head_bias: bool = True
    layer_bias: bool = True
    train_norms: bool = False
    target_modules: set[str] | str = field(default_factory=lambda: {"self_attn"})

    def __post_init__(self) -> None:
        super().__post_init__()  # type: ignore[no-untyped-call]
        self.peft_type = DyPAMConfig.peft_type
        require(self, "at least 1", lambda value: value >= 1, "r", "d_e")
        require(self, "between 0 and 2", lambda value: 0 <= value / 2 <= 1, "alpha")
        if not (self.input_conditioned or self.head_bias or self.layer_bias):
            raise ValueError("Nothing is left to train: keep the input-conditioned part or a bias.")
        if not isinstance(self.target_modules, str):
            self.target_modules = set(self.target_modules)


class Modulation(nn.Module):
    """The factors of the queries, or of the keys, of one layer."""

    def __init__(self, d: int, heads: int, d_head: int, config: DyPAMConfig) -> None:
        super().__init__()
        self.heads, self.pairs, self.alpha = heads, d_head // 2, config.alpha
        self.input_conditioned = config.input_conditioned
        if config.input_conditioned:
            self.A = nn.Linear(d, config.r, bias=False)
            self.B = nn.Linear(config.r, heads * config.d_e, bias=False)
            self.E = nn.Linear(config.d_e, self.pairs, bias=False)
            nn.init.zeros_(self.B.weight)
        if config.head_bias:
            self.head_bias = nn.Parameter(torch.zeros(heads, self.pairs))
        if config.layer_bias:
            self.layer_bias = nn.Parameter(torch.zeros(self.pairs))

    def forward(self, x: Tensor) -> Tensor:
        """Map hidden states (batch, tokens, d) to factors (batch, tokens, heads, d_head)."""
        g = x.new_zeros(*x.shape[:2], self.heads, self.pairs)
        if self.input_conditioned:
            g = self.E(self.B(self.A(x)).unflatten(-1, (self.heads, -1)))
        for bias in ("head_bias", "layer_bias"):
            if hasattr(self, bias):
                g = g + getattr(self, bias)
        s = 1 + self.alpha * (torch.sigmoid(g) - 0.5)
        return torch.cat([s, s], dim=-1)  # pair i is dimensions i and i + d_head / 2


class DyPAM(Adapter):
    """The factors of queries and keys of one layer."""

    after_rope = False

    def __init__(self, attention: Any, config: DyPAMConfig) -> None:
        super().__init__()
        d, heads, keys, d_head = attention_shape(attention)
        self.query = Modulation(d, heads, d_head, config)
        self.key = Modulation(d, keys, d_head, config)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Map hidden states (batch, tokens, d) to the factors of queries and keys."""
        return self.query(x), self.key(x)


class DyPAMModel(AttentionTuner):
    """Puts a `DyPAM` on every attention module."""

    layer = QueryKeyLayer
    adapter = DyPAM
    not_mergeable = "its factors depend on the token."


register(DyPAMConfig, DyPAMModel)


def parameters(config: DyPAMConfig, model: PreTrainedModel) -> int:
    """Count the formula of the module docstring over the layers."""
    shape = model.config.get_text_config()
    d, heads, keys = shape.hidden_size, shape.num_attention_heads, shape.num_key_value_heads
    d_head = getattr(shape, "head_dim", None) or d // heads
    layer = 0
    if config.input_conditioned:
        layer += 2 * d * config.r + config.r * config.d_e * (heads + keys) + config.d_e * d_head
    layer += config.head_bias * (heads + keys) * d_head // 2 + config.layer_bias * d_head
    norms = layer_norm_parameters(model) if config.train_norms else 0
    return int(shape.num_hidden_layers * layer + norms)


method = Method(
    title="DyPAM",
    paper="https://arxiv.org/abs/2610.07848",
    config=DyPAMConfig,
    parameters=parameters,
    mergeable=False,
    variants={
        "no-input": {"input_conditioned": False},
        "no-head-bias": {"head_bias": False},
        "no-layer-bias": {"layer_bias": False},
        "dypam-paper": {"train_norms": True},
    },
)
