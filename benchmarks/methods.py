"""What the methods of the attention cost, relative to LoRA."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
from transformers import DynamicCache, LlamaConfig, LlamaForCausalLM

from benchmarks.ratios import device, ratios
from harness import plugins
from methods.training.hooks import StepHooks, TrainingAhead
from methods.tuners.kept import keeping

Shape = dict[str, int]
"""The sizes of a Llama model."""

# The layers of Llama-3.2-3B, of which two are enough for a ratio, and a small vocabulary, since
# the output embedding costs every method the same.
SHAPE: Shape = {
    "hidden_size": 3072,
    "intermediate_size": 8192,
    "num_hidden_layers": 2,
    "num_attention_heads": 24,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 1024,
}
ROWS, TOKENS, CONTEXT = 2, 128, 128
MODULATING = ("dypam", "rosa")
HALF = torch.bfloat16
USUAL = HALF if torch.cuda.is_available() else torch.float32


def report() -> None:
    """Print a training step and a decoded token of DyPAM and RoSA against LoRA."""
    print(
        "Relative to LoRA (r = 24, all linear layers, not merged) on two layers of Llama-3.2-3B:\n"
    )
    steps = ratios({name: training_step(name) for name in ("lora", *MODULATING)}, "lora", 9)
    tokens = ratios({name: decoded_token(name) for name in ("lora", *MODULATING)}, "lora", 31)
    print("| method | training step | one token decoded with the cache |\n| :--- | ---: | ---: |")
    for name in ("lora", *MODULATING):
        print(f"| {name} | {steps[name]} | {tokens[name]} |")
    _report_precision()


def _report_precision() -> None:
    """Print what it costs DyPAM over bfloat16 to keep queries and keys in float32 through RoPE."""
    print("\nDyPAM over bfloat16, relative to `modulate_in` = backbone:\n")
    kinds = ("backbone", "float32")
    steps = ratios(
        {kind: training_step("dypam", dtype=HALF, modulate_in=kind) for kind in kinds}, kinds[0], 9
    )
    tokens = ratios(
        {kind: decoded_token("dypam", dtype=HALF, modulate_in=kind) for kind in kinds}, kinds[0], 31
    )
    print(
        "| modulate_in | training step | one token decoded with the cache |\n| :--- | ---: | ---: |"
    )
    for kind in kinds:
        print(f"| {kind} | {steps[kind]} | {tokens[kind]} |")


def training_step(
    name: str, shape: Shape = SHAPE, dtype: torch.dtype = USUAL, **fields: Any
) -> Callable[[], object]:
    """Return forward pass, backward pass, the method's hook after it and AdamW step."""
    method = plugins.method(name)
    model = _adapted(name, shape, dtype, fields).train()
    adamw = torch.optim.AdamW(p for p in model.parameters() if p.requires_grad)
    ids = torch.randint(shape["vocab_size"], (ROWS, TOKENS), device=device())
    auxiliary = method.auxiliary_loss
    ahead = TrainingAhead(steps=1000, warmup_steps=0, seed=0)
    hooks = method.hooks(model, ahead) if method.hooks else StepHooks()

    def step() -> None:
        loss = model(input_ids=ids, labels=ids).loss
        (loss + auxiliary(model) if auxiliary else loss).backward()
        hooks.after_backward(1)
        adamw.step()
        adamw.zero_grad()

    return step


def decoded_token(
    name: str, shape: Shape = SHAPE, dtype: torch.dtype = USUAL, rows: int = 1, **fields: Any
) -> Callable[[], object]:
    """Return the forward pass of one token in each of some rows after a cached context.

    Nothing is merged, but what else an evaluation keeps is kept.
    """
    model = _adapted(name, shape, dtype, fields).eval()
    kept = ExitStack()
    if not plugins.method(name).mergeable:
        kept.enter_context(keeping(model, plugins.method(name)))
    ids = torch.randint(shape["vocab_size"], (rows, CONTEXT), device=device())
    cache = DynamicCache(config=model.config)
    with torch.inference_mode():
        model(input_ids=ids, past_key_values=cache)

    @torch.inference_mode()
    def decode(held: ExitStack = kept) -> None:  # without a holder it would be left
        model(input_ids=ids[:, :1], past_key_values=cache)
        cache.crop(-1)

    return decode


def _adapted(name: str, shape: Shape, dtype: torch.dtype, fields: dict[str, Any]) -> Any:
    torch.manual_seed(0)
    model: Any = LlamaForCausalLM(LlamaConfig(**shape))
    method = plugins.method(name)
    adapted = method.adapt(model.to(device(), dtype), method.configure(**fields))
    with torch.no_grad():
        for parameter in adapted.parameters():
            if parameter.requires_grad:
                parameter.add_(0.01 * torch.randn_like(parameter))
    return adapted
