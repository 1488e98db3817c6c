"""What the graph of a training pass holds: nothing as large as a weight, and not much beside LoRA.

Counted by hooks on what autograd saves and still holds when the pass is done.
"""

from functools import cache, partial
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import AttentionInterface, LlamaConfig, LlamaForCausalLM

from harness import plugins
from methods.conformance.models import build
from methods.conformance.probes import held, prompts, train

FORMED = ("boft", "dora", "fourierft", "shira", "smoa")
"""Methods that compute with a matrix (in, out) which is no weight."""

SMALLEST = 32 * 32
"""The keys' weight in the test models, the smallest that is adapted."""

ON_META = [
    name
    for name in plugins.names("methods")
    # `full` is no adapter; the last two read values, or call what torch lacks on that device.
    if name not in {"base", "full", "shira", "cascade"}
]


def bytes_of(tensors: Any) -> int:
    return sum(tensor.untyped_storage().nbytes() for tensor in tensors)


@pytest.mark.parametrize("name", FORMED)
def test_a_training_pass_holds_no_matrix_of_the_size_of_a_weight(name: str) -> None:
    model = train(plugins.method(name), lambda: build("llama-gqa")).train()
    tensors = held(model, lambda: model(input_ids=prompts(1, 2)).logits).values()
    assert max(tensor.numel() for tensor in tensors) < SMALLEST
    assert not [n for n, b in model.named_buffers() if ".M" not in n and b.numel() >= SMALLEST]


def attend_holding_nothing(_: Any, query: Tensor, *__: Any, **___: Any) -> tuple[Tensor, None]:
    """Stand in for the fused attention, which the meta device has not; for all methods alike."""
    return query.transpose(1, 2), None


AttentionInterface.register("holding-nothing", attend_holding_nothing)


@cache
def held_by_a_layer(name: str) -> int:
    """Count the bytes that one layer of Llama-3.2-3B in bfloat16 holds of 2 x 512 tokens.

    What all layers share is left out: a second layer does not hold it again.
    """
    config = LlamaConfig(
        hidden_size=3072,
        intermediate_size=8192,
        num_hidden_layers=1,
        num_attention_heads=24,
        num_key_value_heads=8,
        head_dim=128,
        vocab_size=64,
        attn_implementation="holding-nothing",
    )
    method = plugins.method(name)
    with torch.device("meta"):
        model: Any = LlamaForCausalLM(config).to(torch.bfloat16)
        model = method.adapt(model, method.configure()).train()
        x = torch.zeros(2, 512, 3072, dtype=torch.bfloat16, requires_grad=True)
        turns = torch.ones(1, 512, 128, dtype=torch.bfloat16)
    layer = partial(model.get_base_model().model.layers[0], position_embeddings=(turns, turns))
    once, twice = held(model, lambda: layer(x)), held(model, lambda: layer(layer(x)))
    buffers = [b for n, b in model.named_buffers() if "rotary" not in n and b.is_floating_point()]
    return bytes_of(twice.values()) - bytes_of(once.values()) + bytes_of(buffers)


@pytest.mark.parametrize(
    "name", ["dypam", *(pytest.param(one, marks=pytest.mark.parts) for one in ON_META)]
)
def test_at_a_real_size_no_method_holds_more_than_twice_what_lora_holds(name: str) -> None:
    assert held_by_a_layer(name) <= 2 * held_by_a_layer("lora")
