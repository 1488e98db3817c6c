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

parameters, and the norm weights of the layer where `train_norms` is set. The last H + K is 2 H
where `key_bias_rows` is "query". A token's factor depends on that token alone, so modulated keys
can be cached. Because both dimensions of a pair share s, the modulation commutes with RoPE. It
cannot be merged.

Dynamic Positional Attention Modulation for Parameter-Efficient Fine-Tuning of Large Language
Models, KDD 2026, section 3, algorithm 1. What the paper leaves open, and the choice made:

- One projection for queries and keys (eq. 6), or two: two, that of the keys sized to the key heads.
  Only so do the printed percentages and FLOPs (table 7 of the camera-ready) come out.
- Before or after QK-norm (Qwen3, Gemma 3): after it, right before RoPE, since a norm would take
  back part of the scaling.
- Start values: as above, the identity.
- Key biases per key head or per query head: eq. 12 has one for each head h; section 3.3 says that
  heads which use one key share what scales it. Here each key head has one, since a key cannot tell
  more apart. The 0.62 % printed for Gemma 3 is then missed: it is 0.6146 %. With `key_bias_rows` =
  "query" it is 0.6150 %, which rounds to 0.62: each query head has a row, and a key is scaled by
  the mean of the rows of the heads that share it. The mean is our reading.
- The precision of the modulation over a base in bfloat16: `modulate_in` = "float32" keeps queries
  and keys in float32 from there through RoPE, and rounds them before the attention. Rounded before
  RoPE, as by "backbone", which is the way of code that runs whole in bfloat16 and so of the paper's
  runs, factors within 0.002 of 1 change nothing. It makes no difference over float32.
- Whether the norms train: the text trains none, the percentages count those of every layer. Text;
  `train_norms` trains them.

Variants: `no-input`, `no-head-bias`, `no-layer-bias` (the ablations of the paper's section 4.4);
`dypam-paper` counts as its tables do, norms and key biases per query head included.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from methods.contract import Method
from methods.tuners.adapter import Adapter
from methods.tuners.attention import (
    AttentionTuner,
    QueryKeyLayer,
    attention_shape,
    layer_norm_parameters,
)
from methods.tuners.config import NativeConfig, require
from methods.tuners.peft_types import register


@dataclass
class DyPAMConfig(NativeConfig):
    """Hyperparameters of DyPAM, section "Implementation Details" of the paper.

    Attributes:
        r: Rank of the projection from hidden state to features.
        d_e: Features per head.
        alpha: Modulation strength: factors lie within 1 - alpha/2 and 1 + alpha/2.
        input_conditioned: Whether the scores depend on the token, or on the biases only.
        head_bias: Whether each head has a bias.
        layer_bias: Whether the layer has a bias, shared by its heads.
        key_bias_rows: Whether the keys have a head bias per key head or per query head.
        modulate_in: Whether queries and keys keep float32 through RoPE, or are rounded to the
            precision of the backbone before it.
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
    key_bias_rows: Literal["key", "query"] = "key"
    modulate_in: Literal["float32", "backbone"] = "float32"
    train_norms: bool = False
    target_modules: set[str] | str = field(default_factory=lambda: {"self_attn"})

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "at least 1", lambda value: value >= 1, "r", "d_e")
        require(self, "between 0 and 2", lambda value: 0 <= value / 2 <= 1, "alpha")
        if not (self.input_conditioned or self.head_bias or self.layer_bias):
            raise ValueError("Nothing is left to train: keep the input-conditioned part or a bias.")


class Modulation(nn.Module):
    """The factors of the queries, or of the keys, of one layer.

    Attributes:
        head_bias: As many rows as heads, or a multiple of it, of which each head takes the mean.
    """

    def __init__(
        self, d: int, heads: int, d_head: int, bias_rows: int, config: DyPAMConfig
    ) -> None:
        super().__init__()
        self.heads, self.pairs, self.alpha = heads, d_head // 2, config.alpha
        self.input_conditioned = config.input_conditioned
        if config.input_conditioned:
            self.A = nn.Linear(d, config.r, bias=False)
            self.B = nn.Linear(config.r, heads * config.d_e, bias=False)
            self.E = nn.Linear(config.d_e, self.pairs, bias=False)
            nn.init.zeros_(self.B.weight)
        if config.head_bias:
            self.head_bias = nn.Parameter(torch.zeros(bias_rows, self.pairs))
        if config.layer_bias:
            self.layer_bias = nn.Parameter(torch.zeros(self.pairs))

    def forward(self, x: Tensor) -> Tensor:
        """Map hidden states (batch, tokens, d) to factors (batch, tokens, heads, d_head)."""
        g = x.new_zeros(*x.shape[:2], self.heads, self.pairs)
        if self.input_conditioned:
            g = self.E(self.B(self.A(x)).unflatten(-1, (self.heads, -1)))
        if hasattr(self, "head_bias"):
            rows = self.head_bias
            g = g + (rows if len(rows) == self.heads else self._mean_of_groups(rows))
        if hasattr(self, "layer_bias"):
            g = g + self.layer_bias
        s = 1 + self.alpha * (torch.sigmoid(g) - 0.5)
        return torch.cat([s, s], dim=-1)  # pair i is dimensions i and i + d_head / 2

    def _mean_of_groups(self, rows: Tensor) -> Tensor:
        """Average over the query heads that share a key head, which lie side by side."""
        groups: Tensor = rows.unflatten(0, (self.heads, -1))
        return groups.mean(dim=1)


class DyPAM(Adapter):
    """The factors of queries and keys of one layer."""

    after_rope = False

    def __init__(self, attention: Any, config: DyPAMConfig) -> None:
        super().__init__()
        d, heads, keys, d_head = attention_shape(attention)
        rows = {"query": heads, "key": keys}[config.key_bias_rows]
        self.modulate_in = config.modulate_in
        self.query = Modulation(d, heads, d_head, heads, config)
        self.key = Modulation(d, keys, d_head, rows, config)

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
    rows = heads + {"query": heads, "key": keys}[config.key_bias_rows]
    layer += config.head_bias * rows * d_head // 2 + config.layer_bias * d_head
    norms = layer_norm_parameters(model) if config.train_norms else 0
    return int(shape.num_hidden_layers * layer + norms)


method = Method(
    title="DyPAM",
    paper="https://arxiv.org/abs/2610.07848",
    config=DyPAMConfig,
    parameters=parameters,
    mergeable=False,
    quantized=("nf4", "int8"),
    variants={
        "no-input": {"input_conditioned": False},
        "no-head-bias": {"head_bias": False},
        "no-layer-bias": {"layer_bias": False},
        "dypam-paper": {"train_norms": True, "key_bias_rows": "query"},
    },
)
