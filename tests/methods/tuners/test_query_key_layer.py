"""How the factors of DyPAM and RoSA reach queries and keys over a base in bfloat16 or float32."""

import re
from typing import Any

import pytest
import torch
from peft import PeftModel
from torch import Tensor, nn
from transformers import AutoModelForCausalLM

from harness import plugins
from harness.backbones import TINY
from methods.conformance.models import build
from tests.methods.tensors import randomise, token_ids

TOKENS = 13  # more than Gemma's window holds, and as many as no model has heads
HEAD_SIZE = 16

IN_FLOAT32: dict[str, dict[str, Any]] = {
    "dypam": {},
    "rosa": {},
    "rosa:post-rope": {"after_rope": True},
}
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    f"{method}, {precision}": {**fields, "modulate_in": precision}
    for method, fields in IN_FLOAT32.items()
    for precision in ("backbone", "float32")
}
in_the_backbones_precision = pytest.mark.parametrize(
    "method", [method for method in CONFIGURATIONS if method.endswith("backbone")]
)
in_float32 = pytest.mark.parametrize(
    "method", [method for method in CONFIGURATIONS if method.endswith("float32")]
)
# Projections without norms, norms before and norms after the heads move in front of the tokens.
every_layout = pytest.mark.parametrize("model", ["llama-gqa", "qwen3-gqa", "gemma3-gqa"])


def fresh(method: str, model: Any) -> PeftModel:
    used = plugins.method(re.split("[:,]", method)[0])
    return used.adapt(model, used.configure(**CONFIGURATIONS[method])).eval()


@torch.no_grad()
def logits(model: Any) -> Tensor:
    found: Tensor = model(input_ids=token_ids(2, TOKENS)).logits
    return found


@in_the_backbones_precision
@every_layout
def test_over_bfloat16_training_starts_at_the_base_to_the_bit(method: str, model: str) -> None:
    base: Any = build(model)
    expected = logits(base.to(torch.bfloat16))
    assert expected.dtype == torch.bfloat16
    assert torch.equal(logits(fresh(method, base)), expected)


def last_before_rope(attention: Any) -> tuple[nn.Module, nn.Module]:
    normed = hasattr(attention, "q_norm")
    if normed:
        return attention.q_norm, attention.k_norm
    return attention.q_proj, attention.k_proj


def modulation(method: str, name: str, dtype: torch.dtype) -> list[tuple[Tensor, Tensor, Tensor]]:
    """Run the first layer; return states before, factors, and states after, (.., heads, size)."""
    model: Any = build(name)
    attention = model.to(dtype).model.layers[0].self_attn
    plain: list[Tensor] = []
    scaled: list[Tensor] = []
    hidden: list[Tensor] = []
    for module in last_before_rope(attention):
        module.register_forward_hook(lambda _, __, states: plain.append(states.detach()))
    adapted: Any = randomise(fresh(method, model), std=0.3)
    for module in last_before_rope(attention):
        module.register_forward_hook(lambda _, __, states: scaled.append(states.detach()))
    layer = adapted.get_base_model().model.layers[0].self_attn
    layer.register_forward_pre_hook(
        lambda _, __, given: hidden.append(given["hidden_states"]), with_kwargs=True
    )
    logits(adapted)
    with torch.no_grad():
        factors = layer.adapter_modules["default"](hidden[0].float())
    return [
        (heads_last(before, name), factor, heads_last(after, name))
        for before, factor, after in zip(plain[:2], factors, scaled[:2], strict=True)
    ]


def heads_last(states: Tensor, name: str) -> Tensor:
    """Bring states into the layout of the factors: (batch, tokens, heads, d_head)."""
    if name.startswith("gemma3"):
        return states.transpose(1, 2)
    return states.unflatten(-1, (-1, HEAD_SIZE)) if states.ndim == 3 else states


@pytest.mark.parametrize("method", ["dypam, backbone", "rosa, backbone"])
@every_layout
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_states_are_multiplied_in_float32_and_rounded_once(
    method: str, model: str, dtype: torch.dtype
) -> None:
    for before, factors, after in modulation(method, model, dtype):
        assert before.dtype == after.dtype == dtype
        assert factors.dtype == torch.float32
        assert torch.equal(after, (before.float() * factors).to(dtype))
        assert not torch.equal(after, before)


def rotate(states: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Turn pair i, dimensions i and i + d_head / 2, of (batch, tokens, heads, d_head)."""
    real, imaginary = states.chunk(2, dim=-1)
    return torch.cat([real * cos - imaginary * sin, imaginary * cos + real * sin], dim=-1)


def turns() -> tuple[Tensor, Tensor]:
    """Take the cosines and sines of Llama in bfloat16, as it hands them to the attention."""
    model: Any = build("llama-gqa")
    given = model.to(torch.bfloat16).model.rotary_emb(
        torch.empty(1, dtype=torch.bfloat16), torch.arange(TOKENS)[None]
    )
    cos, sin = (part[:, :, None, : HEAD_SIZE // 2].double() for part in given)
    return cos, sin


@torch.no_grad()
def test_after_rope_in_bfloat16_is_the_exact_result_rounded_once() -> None:
    cos, sin = turns()
    stretch = torch.cat([cos**2 + sin**2] * 2, dim=-1)  # 1, but for their rounding
    for before, factors, after in modulation(
        "rosa:post-rope, backbone", "llama-gqa", torch.bfloat16
    ):
        scaled = rotate(before.double(), cos, sin) * factors.double()
        exact = rotate(scaled, cos, -sin) / stretch
        # Half the distance of two neighbours is at most 2^-8 of the number. What float32 adds to
        # it, 2^-24 for each of a dozen operations, is relative to the pair and not to the number.
        allowed = 2**-8 * exact.abs() + 12 * 2**-24 * exact.norm(dim=-1, keepdim=True)
        assert bool(((after.double() - exact).abs() <= allowed).all())
        assert float((exact - before.double()).abs().max()) > 0.1


@torch.no_grad()
@in_float32
def test_in_float32_states_are_scaled_and_rotated_and_then_rounded_once(method: str) -> None:
    cos, sin = turns()
    for before, factors, after in modulation(method, "llama-gqa", torch.bfloat16):
        scaled = before.double() * (1 if "post" in method else factors.double())
        exact = rotate(scaled, cos, sin) * (factors.double() if "post" in method else 1)
        # Half the distance of two neighbours, and what a few operations in float32 add.
        allowed = 2**-8 * exact.abs() + 8 * 2**-24 * exact.norm(dim=-1, keepdim=True)
        assert after.dtype == torch.bfloat16
        assert bool(((after.double() - exact).abs() <= allowed).all())


@in_float32
@every_layout
def test_in_float32_training_over_bfloat16_starts_at_the_base_but_for_rounding(
    method: str, model: str
) -> None:
    exact = logits(build(model))
    base: Any = build(model).to(torch.bfloat16)
    off = (logits(base) - exact).norm()
    assert (logits(fresh(method, base)) - exact).norm() < 1.2 * off


@pytest.mark.parametrize("method", IN_FLOAT32)
@every_layout
def test_over_float32_the_precision_of_the_modulation_makes_no_difference(
    method: str, model: str
) -> None:
    found = [
        logits(randomise(fresh(f"{method}, {precision}", build(model))))
        for precision in ("backbone", "float32")
    ]
    assert torch.equal(*found)


TINY_BIAS = 0.005
"""A score that moves a factor of DyPAM by 0.0004; the numbers of bfloat16 are 0.008 apart there."""


def changed_logits(precision: str, after: Any) -> bool:
    """Say whether `after`, done to DyPAM on the embedded model in bfloat16, changes a logit."""
    bare = AutoModelForCausalLM.from_pretrained(TINY, dtype=torch.bfloat16)
    model = fresh(f"dypam, {precision}", bare)
    start = logits(model)
    after(model)
    return not torch.equal(logits(model), start)


def small_bias(model: Any) -> None:
    for name, parameter in model.named_parameters():
        if "head_bias" in name:
            nn.init.constant_(parameter, TINY_BIAS)


def first_step(model: Any) -> None:
    trained = [p for p in model.parameters() if p.requires_grad]
    ids = token_ids(2, TOKENS)
    model(input_ids=ids, labels=ids).loss.backward()
    torch.optim.AdamW(trained, lr=1e-4).step()


def test_a_small_score_is_lost_in_bfloat16_and_not_in_float32() -> None:
    assert not changed_logits("backbone", small_bias)
    assert changed_logits("float32", small_bias)


def test_the_first_step_of_training_in_bfloat16_has_an_effect() -> None:
    assert changed_logits("float32", first_step)
