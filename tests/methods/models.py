"""Models that the tests of several methods share, and what a changed token does to logits."""

from typing import Any

import torch
from torch import Tensor, nn
from transformers import (
    BloomConfig,
    BloomForCausalLM,
    OPTConfig,
    OPTForCausalLM,
    PreTrainedModel,
)

from methods.conformance.models import VOCABULARY, build
from tests.methods.tensors import with_another_token


def in_double(name: str) -> PreTrainedModel:
    """Build the model with float64 norms: its own round to float32, whatever the dtype."""
    model = build(name).double()
    for key in [key for key, _ in model.named_modules() if key.endswith("norm")]:
        weight: Any = model.get_submodule(key).weight
        norm = nn.RMSNorm(len(weight), eps=1e-6, dtype=torch.float64)
        # Gemma stores it less 1. Rounded, since an adapter's own copy starts in float32.
        norm.weight.data = (weight.data + int(name.startswith("gemma3"))).float().double()
        model.set_submodule(key, norm)
    return model


def bloom() -> PreTrainedModel:
    """Build a BLOOM: its layers are `h`, its norms are named as Llama's."""
    return BloomForCausalLM(BloomConfig(vocab_size=VOCABULARY, hidden_size=32, n_layer=2, n_head=4))


def opt() -> PreTrainedModel:
    """Build an OPT: its layers are `layers`, its norms are named otherwise."""
    shape: dict[str, Any] = {"hidden_size": 32, "word_embed_proj_dim": 32, "ffn_dim": 48}
    return OPTForCausalLM(
        OPTConfig(vocab_size=VOCABULARY, num_hidden_layers=2, num_attention_heads=4, **shape)
    )


def logits_as_a_token_changes(model: Any, ids: Tensor, at: int) -> tuple[Tensor, Tensor]:
    """Compute the logits of texts, and those with another token at one position of each."""
    changed = with_another_token(ids, at)
    return model(input_ids=ids).logits, model(input_ids=changed).logits
