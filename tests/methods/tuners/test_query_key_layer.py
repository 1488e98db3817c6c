"""How the factors of DyPAM and RoSA reach queries and keys over a base in bfloat16 or float32."""

from typing import Any

import pytest
import torch
from peft import PeftModel
from torch import Tensor, nn

from harness import plugins
from methods.conformance.models import VOCABULARY, build

TOKENS = 13  # more than Gemma's window holds, and as many as no model has heads
HEAD_SIZE = 16

CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "dypam": {},
    "rosa": {},
    "rosa:post-rope": {"after_rope": True},
}
every_configuration = pytest.mark.parametrize("method", CONFIGURATIONS)
# Projections without norms, norms before and norms after the heads move in front of the tokens.
every_layout = pytest.mark.parametrize("model", ["llama-gqa", "qwen3-gqa", "gemma3-gqa"])


def fresh(method: str, model: Any) -> PeftModel:
    used = plugins.method(method.partition(":")[0])
    return used.adapt(model, used.configure(**CONFIGURATIONS[method])).eval()


def randomise(model: PeftModel) -> PeftModel:
    draw = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        if parameter.requires_grad:
            nn.init.normal_(parameter, std=0.3, generator=draw)
    return model


def prompts() -> Tensor:
    return torch.randint(VOCABULARY, (2, TOKENS), generator=torch.Generator().manual_seed(3))


@torch.no_grad()
def logits(model: Any) -> Tensor:
    found: Tensor = model(input_ids=prompts()).logits
    return found


@every_configuration
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
    adapted: Any = randomise(fresh(method, model))
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


@pytest.mark.parametrize("method", ["dypam", "rosa"])
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


@torch.no_grad()
def test_after_rope_in_bfloat16_is_the_exact_result_rounded_once() -> None:
    # The cosines and sines of the model in bfloat16, as it hands them to the attention.
    model: Any = build("llama-gqa")
    given = model.to(torch.bfloat16).model.rotary_emb(
        torch.empty(1, dtype=torch.bfloat16), torch.arange(TOKENS)[None]
    )
    cos, sin = (part[:, :, None, : HEAD_SIZE // 2].double() for part in given)
    stretch = torch.cat([cos**2 + sin**2] * 2, dim=-1)  # 1, but for their rounding
    for before, factors, after in modulation("rosa:post-rope", "llama-gqa", torch.bfloat16):
        scaled = rotate(before.double(), cos, sin) * factors.double()
        exact = rotate(scaled, cos, -sin) / stretch
        # Half the distance of two neighbours is at most 2^-8 of the number. What float32 adds to
        # it, 2^-24 for each of a dozen operations, is relative to the pair and not to the number.
        allowed = 2**-8 * exact.abs() + 12 * 2**-24 * exact.norm(dim=-1, keepdim=True)
        assert bool(((after.double() - exact).abs() <= allowed).all())
        assert float((exact - before.double()).abs().max()) > 0.1
