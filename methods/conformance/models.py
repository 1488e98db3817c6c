"""Small random models in the shapes that the conformance checks run on."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedModel,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

VOCABULARY = 64

# The head size is not hidden size / heads, as in Qwen3 and Gemma 3, so that no method gets away
# with the quotient.
SHAPE: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "head_dim": 16,
    "max_position_embeddings": 128,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}

GQA, MHA = 2, 4
"""Key heads of grouped-query and of multi-head attention."""


def llama(key_heads: int) -> PreTrainedModel:
    """Build a Llama."""
    return LlamaForCausalLM(LlamaConfig(num_key_value_heads=key_heads, **SHAPE))


def qwen2(key_heads: int) -> PreTrainedModel:
    """Build a Qwen2: biases on queries, keys and values."""
    return Qwen2ForCausalLM(Qwen2Config(num_key_value_heads=key_heads, **SHAPE))


def mistral(key_heads: int) -> PreTrainedModel:
    """Build a Mistral: a window on every layer."""
    config = MistralConfig(num_key_value_heads=key_heads, sliding_window=8, **SHAPE)
    return MistralForCausalLM(config)


def gemma2(key_heads: int) -> PreTrainedModel:
    """Build a Gemma 2: four norms a layer, soft-capped attention and logits, a window."""
    config = Gemma2Config(
        num_key_value_heads=key_heads, sliding_window=8, query_pre_attn_scalar=16, **SHAPE
    )
    return Gemma2ForCausalLM(config)


def qwen3(key_heads: int) -> PreTrainedModel:
    """Build a Qwen3: normalised queries and keys, tokens before heads."""
    return Qwen3ForCausalLM(Qwen3Config(num_key_value_heads=key_heads, **SHAPE))


def gemma3(key_heads: int) -> PreTrainedModel:
    """Build a Gemma 3 text model: normalised queries and keys, heads before tokens, a window."""
    layers = ["sliding_attention", "full_attention"]
    config = Gemma3TextConfig(
        num_key_value_heads=key_heads,
        layer_types=layers,
        sliding_window=8,
        query_pre_attn_scalar=16,
        **SHAPE,
    )
    return Gemma3ForCausalLM(config)


ARCHITECTURES = (llama, qwen2, qwen3, mistral, gemma2, gemma3)

BUILDERS: dict[str, Callable[[], PreTrainedModel]] = {
    f"{architecture.__name__}-{kind}": partial(architecture, key_heads)
    for architecture in ARCHITECTURES
    for kind, key_heads in (("gqa", GQA), ("mha", MHA))
}


def build(name: str) -> PreTrainedModel:
    """Build the model `name` with weights that are always the same, in evaluation mode."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model: PreTrainedModel = BUILDERS[name]()
        for parameter in model.parameters():
            # Larger than the library's start, so that attention is far from uniform.
            torch.nn.init.normal_(parameter, std=0.2)
    model.eval()
    return model


BUILDS = {name: partial(build, name) for name in BUILDERS}
