"""RoSA: enhance the low-frequency dimensions of queries and keys, in the layers that matter.

    S_Q = SiLU(B A h_t)                 signal of the query heads, of d_low numbers each     eq. 2
    S_K = D C S_Q                       for grouped-query attention; S_K = S_Q without it    eq. 3
    z_i <- z_i + z_i alpha S_i          on the slowest rotary dimensions of each head        eq. 4

h_t is the input of the query and key projections, of shape (d,). d_low = r_low d_head: the last
d_low / 2 dimensions of each half of a head, which RoPE turns the slowest. Both halves have signals
of their own. With H query and K key heads: A (r, d), C (r, H d_low) and D (K d_low, r) uniform as
Kaiming; B (H d_low, r) zero, so that S = 0 and training starts at the base. One layer has

    d r + r H d_low + (H + K) d_low r      without the last term if H = K

parameters, and the norm weights of the layer where `train_norms` is set. A token's signal depends
on that token alone, so enhanced keys can be cached. It cannot be merged.

In training, dynamic layer selection updates half of the layers at a time: eq. 5 and 6, written in
`training/layer_selection.py` because every method can take it (`lora[dls=true]`).

RoSA: Enhancing Parameter-Efficient Fine-Tuning via RoPE-aware Selective Adaptation in Large
Language Models, AAAI 2026, arXiv 2511.21733. (Two other papers use the acronym: "robust adaptation"
and "rotational sparse adaptation".) What the paper leaves open, and the choice made:

- W_GQA: the full matrix of eq. 3 fits none of the printed percentages; one of rank r fits all.
- Before or after RoPE: before, where the section describes the selection; `post-rope` is after.
- Before or after QK-norm (Qwen3, Gemma 3): after it, right before RoPE.
- The hidden state: after the input norm, as in the released code of the same group's HyCAM.
- Start values: as above, the identity.
- The precision of the modulation over a base in bfloat16: `modulate_in` = "float32" keeps queries
  and keys in float32 from there through RoPE, and rounds them before the attention. Rounded before
  RoPE, as by "backbone", which is the way of code that runs whole in bfloat16 and so of the paper's
  runs, factors within 0.002 of 1 change nothing. It makes no difference over float32.
- Whether the norms train: the text trains none, the percentages count those of every layer. Text;
  `train_norms` trains them.

Variants: `roae-only` (no layer selection), `roae-0.5` (r_low = 0.5), both ablations of the paper,
whose other two are `lora:rosa-lr128` and `lora:rosa-lr64`; `post-rope`; `frozen-layers`, where
AdamW's momentum does not move a layer that is not selected; `rosa-paper` and `dypam-paper`,
which count as the tables do, norms included.
"""

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import silu
from transformers import PreTrainedModel

from methods.contract import Method
from methods.training.layer_selection import LayerSelection
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
class RoSAConfig(NativeConfig):
    """Hyperparameters of RoSA's attention enhancement (RoAE), appendix of the paper.

    Attributes:
        r: Rank of the projections.
        r_low: Share of a head's dimensions that is enhanced: the slowest.
        alpha: Strength of the enhancement.
        after_rope: Whether the rotated queries and keys are enhanced, or those before rotation.
        modulate_in: Whether queries and keys keep float32 through RoPE, or are rounded to the
            precision of the backbone before it.
        train_norms: Whether the norms of each decoder layer are trained too.
        target_modules: Names of the attention modules; those without RoPE, as in a vision tower,
            are left alone.
    """

    peft_type = "ROSA"

    r: int = 128
    r_low: float = 0.25
    alpha: float = 0.1
    after_rope: bool = False
    modulate_in: Literal["float32", "backbone"] = "float32"
    train_norms: bool = False
    target_modules: set[str] | str = field(default_factory=lambda: {"self_attn"})

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "at least 1", lambda value: value >= 1, "r")
        require(self, "above 0 and at most 1", lambda value: 0 < value <= 1, "r_low")
        require(self, "above 0", lambda value: value > 0, "alpha")


class RoAE(Adapter):
    """The factors 1 + alpha S of queries and keys of one layer."""

    def __init__(self, attention: Any, config: RoSAConfig) -> None:
        super().__init__()
        d, self.heads, self.keys, d_head = attention_shape(attention)
        self.pairs, self.slow = d_head // 2, slow_pairs(d_head, config.r_low)
        self.alpha, self.after_rope = config.alpha, config.after_rope
        self.modulate_in = config.modulate_in
        signals, key_signals = 2 * self.slow * self.heads, 2 * self.slow * self.keys
        self.A = nn.Linear(d, config.r, bias=False)
        self.B = nn.Linear(config.r, signals, bias=False)
        nn.init.zeros_(self.B.weight)
        if self.keys != self.heads:
            self.C = nn.Linear(signals, config.r, bias=False)
            self.D = nn.Linear(config.r, key_signals, bias=False)

    def forward(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Map hidden states (batch, tokens, d) to the factors of queries and keys."""
        signal = silu(self.B(self.A(h)))
        query = self._factors(signal.unflatten(-1, (self.heads, -1)))
        if self.keys == self.heads:
            return query, query
        return query, self._factors(self.D(self.C(signal)).unflatten(-1, (self.keys, -1)))

    def _factors(self, signal: Tensor) -> Tensor:
        """Spread (batch, tokens, heads, d_low) over the head, with 1 on the fast dimensions."""
        first, second = (1 + self.alpha * signal).chunk(2, dim=-1)
        fast = signal.new_ones(*signal.shape[:3], self.pairs - self.slow)
        return torch.cat([fast, first, fast, second], dim=-1)


def slow_pairs(d_head: int, r_low: float) -> int:
    """Return d_low / 2, the number of rotary pairs that are enhanced.

    Raises:
        ValueError: r_low d_head / 2 is not a whole number.
    """
    pairs = r_low * d_head / 2
    if not math.isclose(pairs, round(pairs)) or pairs < 1:
        raise ValueError(
            f"r_low = {r_low} of a head of {d_head} is {pairs:g} rotary pairs; take a multiple of "
            f"{2 / d_head:g}."
        )
    return round(pairs)


class RoSAModel(AttentionTuner):
    """Puts a `RoAE` on every attention module."""

    layer = QueryKeyLayer
    adapter = RoAE
    not_mergeable = "its factors depend on the token."


register(RoSAConfig, RoSAModel)


def parameters(config: RoSAConfig, model: PreTrainedModel) -> int:
    """Count the formula of the module docstring over the layers."""
    shape = model.config.get_text_config()
    d, heads, keys = shape.hidden_size, shape.num_attention_heads, shape.num_key_value_heads
    d_low = 2 * slow_pairs(getattr(shape, "head_dim", None) or d // heads, config.r_low)
    layer = d * config.r + config.r * heads * d_low
    layer += (heads + keys) * d_low * config.r if heads != keys else 0
    norms = layer_norm_parameters(model) if config.train_norms else 0
    return int(shape.num_hidden_layers * layer + norms)


method = Method(
    title="RoSA",
    paper="https://arxiv.org/abs/2511.21733",
    config=RoSAConfig,
    parameters=parameters,
    mergeable=False,
    quantized=("nf4", "int8"),
    dls=LayerSelection(),
    variants={
        "roae-only": {"dls": False},
        "roae-0.5": {"r_low": 0.5},
        "post-rope": {"after_rope": True},
        "frozen-layers": {"dls": {"freeze": True}},
        "rosa-paper": {"train_norms": True},
        "dypam-paper": {"train_norms": True},
    },
)
