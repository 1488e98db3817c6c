"""What a method holds for the backward pass, measured on one layer of Llama-3.2-3B in bfloat16."""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from transformers import LlamaConfig, LlamaForCausalLM

from harness import plugins
from methods.conformance.probes import held
from methods.smoa import SMoA

SHAPE = {
    "hidden_size": 3072,
    "intermediate_size": 8192,
    "num_hidden_layers": 1,
    "num_attention_heads": 24,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 64,
}
LAYERS, ROWS, TOKENS = 28, 2, 512


def report() -> None:
    """Print what each method holds in all layers of the model, beside LoRA."""
    names = plugins.names("methods")
    found = {name: LAYERS * held_by_a_layer(name) / 1e9 for name in names}
    print("| method | GB | to LoRA |\n| :--- | ---: | ---: |")
    for name, size in found.items():
        print(f"| {name} | {size:.1f} | {size / found['lora']:.2f} |")


def held_by_a_layer(name: str) -> int:
    """Count bytes of saved tensors and of the adapter's buffers; what layers share is left out."""
    model, turns, shared = _adapted(name)
    layer = partial(model.get_submodule(_layer(model)), position_embeddings=turns)
    x = torch.randn(ROWS, TOKENS, SHAPE["hidden_size"]).bfloat16().requires_grad_()
    once, twice = held(model, lambda: layer(x)), held(model, lambda: layer(layer(x)))
    buffers = [b for b in model.buffers() if id(b) not in shared and b.is_floating_point()]
    return _bytes(twice.values()) - _bytes(once.values()) + _bytes(buffers)


def _adapted(name: str) -> tuple[Any, tuple[Tensor, Tensor], set[int]]:
    """Adapt the layer; return the model, its rotations, and the buffers that are the backbone's."""
    bare: Any = LlamaForCausalLM(LlamaConfig(**SHAPE)).bfloat16()
    turns = bare.model.rotary_emb(torch.empty(1, dtype=torch.bfloat16), torch.arange(TOKENS)[None])
    shared = {id(buffer) for buffer in bare.buffers()}
    method = plugins.method(name)
    model: Any = method.adapt(bare, method.configure()).train()
    for adapter in model.modules():
        if isinstance(adapter, SMoA):
            _order(adapter)
    return model, turns, shared


def _order(adapter: SMoA) -> None:
    """Give any orders, since those of the weight would take minutes."""
    for order in (adapter.row_order, adapter.column_order):
        order.copy_(torch.randperm(len(order)))
    adapter.ordered = True
    adapter._take_anchors()


def _layer(model: nn.Module) -> str:
    return next(name for name, _ in model.named_modules() if name.endswith("layers.0"))


def _bytes(tensors: Any) -> int:
    return sum(tensor.untyped_storage().nbytes() for tensor in tensors)
