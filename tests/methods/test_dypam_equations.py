"""DyPAM against its paper (KDD 2026, section 3, eq. 6 to 14), written out a second time by hand."""

import math
from typing import Any

import pytest
import torch
from peft import PeftModel
from torch import Tensor, nn

from methods.conformance.models import BUILDERS, build
from methods.dypam import DyPAMConfig, method
from tests.methods.attention import HEAD_SIZE, PAIRS, attend, rotate, theta_and_window
from tests.methods.models import in_double
from tests.methods.tensors import difference, random, randomise, token_ids

ALPHA = 0.8
LOW, HIGH = 1 - ALPHA / 2, 1 + ALPHA / 2
WIDTH, QUERY_HEADS = 32, 4

# Gemma 2 caps its scores and takes the softmax in float32, which is another attention by hand.
every_model = pytest.mark.parametrize("name", [n for n in BUILDERS if not n.startswith("gemma2")])
# As many tokens as key heads and as query heads, so that no shape error tells the two axes apart,
# and more tokens than Gemma's window holds.
every_length = pytest.mark.parametrize("tokens", [2, 4, 13])


def factors_by_hand(states: Tensor, weights: Any) -> Tensor:
    """Compute eq. 6 to 13, with one factor for both dimensions of a pair (eq. 14)."""
    down, up, embedding = weights.A.weight, weights.B.weight, weights.E.weight
    features = embedding.shape[1]
    heads = len(up) // features
    shared = len(weights.head_bias) // heads  # rows of a key head, where each query head has one
    factors = states.new_empty(*states.shape[:2], heads, HEAD_SIZE)
    for text, token, head in torch.cartesian_prod(*map(torch.arange, factors.shape[:3])).tolist():
        rows = slice(head * features, (head + 1) * features)
        feature = up[rows] @ (down @ states[text, token])  # eq. 6
        bias = sum(weights.head_bias[head * shared + row] for row in range(shared)) / shared
        scores = embedding @ feature + bias + weights.layer_bias  # eq. 8, 11, 12
        for pair, score in enumerate(scores.tolist()):
            factor = 1 + ALPHA * (1 / (1 + math.exp(-score)) - 0.5)  # eq. 13
            factors[text, token, head, [pair, pair + PAIRS]] = factor
    return factors


class PlainAttention(nn.Module):
    """Attention with DyPAM: project, normalise, modulate, rotate, attend, project."""

    def __init__(self, base: Any, dypam: Any, theta: float, window: int | None) -> None:
        super().__init__()
        self.base, self.dypam, self.theta, self.window = base, dypam, theta, window

    def prepare(self, states: Tensor, projection: Any, norm: Any, weights: Any) -> Tensor:
        projected = norm(projection(states).unflatten(-1, (-1, HEAD_SIZE)))
        return rotate(projected * factors_by_hand(states, weights), self.theta)

    def forward(self, hidden_states: Tensor, **_: Any) -> tuple[Tensor, None]:
        base, dypam = self.base, self.dypam
        q_norm, k_norm = (getattr(base, norm, nn.Identity()) for norm in ("q_norm", "k_norm"))
        query = self.prepare(
            hidden_states, base.q_proj, q_norm, dypam.adapter_modules["default"].query
        )
        key = self.prepare(hidden_states, base.k_proj, k_norm, dypam.adapter_modules["default"].key)
        value = base.v_proj(hidden_states).unflatten(-1, (-1, HEAD_SIZE))
        return base.o_proj(attend(query, key, value, self.window)), None


def fresh(name: str, **fields: Any) -> PeftModel:
    config = DyPAMConfig(r=5, d_e=6, alpha=ALPHA, **fields)
    return method.adapt(in_double(name), config).double().eval()


def adapt(name: str, **fields: Any) -> PeftModel:
    """Put DyPAM with random weights into the model."""
    return randomise(fresh(name, **fields))


def attentions(model: Any) -> list[Any]:
    return [layer.self_attn for layer in model.get_base_model().model.layers]


def modulations(model: PeftModel) -> list[Any]:
    both = [layer.adapter_modules["default"] for layer in attentions(model)]
    return [module for pair in both for module in (pair.query, pair.key)]


def plain(name: str, adapted: PeftModel) -> Any:
    """Build the bare model with our own attention, under the adapter's weights."""
    model: Any = in_double(name)
    for layer, dypam in zip(model.model.layers, attentions(adapted), strict=True):
        theta, window = theta_and_window(model, layer.self_attn)
        layer.self_attn = PlainAttention(layer.self_attn, dypam, theta, window)
    return model


@every_model
@every_length
@torch.no_grad()
def test_factors_equal_the_equations_written_out(name: str, tokens: int) -> None:
    states = random(2, tokens, WIDTH)
    for module in modulations(adapt(name)):
        assert difference(module(states), factors_by_hand(states, module)) <= 1e-12


@every_model
@torch.no_grad()
def test_factors_fill_the_bounded_interval_and_are_shared_by_a_pair(name: str) -> None:
    for module in modulations(adapt(name)):
        factors = module(random(2, 13, WIDTH))
        assert torch.equal(factors[..., :PAIRS], factors[..., PAIRS:])
        assert LOW <= factors.min() < LOW + 0.1
        assert HIGH - 0.1 < factors.max() <= HIGH


@every_model
@every_length
@torch.no_grad()
def test_logits_equal_those_of_a_plain_implementation(name: str, tokens: int) -> None:
    text = token_ids(2, tokens)
    adapted = adapt(name)
    logits = adapted(input_ids=text).logits
    assert difference(logits, plain(name, adapted)(input_ids=text).logits) <= 1e-11
    assert difference(logits, in_double(name)(input_ids=text).logits) > 1e-3


@torch.no_grad()
def test_modulation_by_pairs_commutes_with_rope() -> None:
    factors = modulations(adapt("llama-gqa"))[0](random(2, 13, WIDTH))
    states = random(2, 13, QUERY_HEADS, HEAD_SIZE)
    assert difference(rotate(factors * states, 1e4), factors * rotate(states, 1e4)) <= 1e-12


def test_modulation_by_single_dimensions_does_not_commute_with_rope() -> None:
    states = random(2, 13, QUERY_HEADS, HEAD_SIZE)
    factors = torch.linspace(LOW, HIGH, HEAD_SIZE, dtype=torch.float64)
    assert difference(rotate(factors * states, 1e4), factors * rotate(states, 1e4)) > 0.1


@every_model
@torch.no_grad()
def test_all_factors_are_exactly_one_at_the_start(name: str) -> None:
    for module in modulations(fresh(name)):
        factors = module(random(2, 13, WIDTH))
        assert torch.equal(factors, torch.ones_like(factors))


@every_model
def test_with_a_bias_row_per_query_head_a_key_takes_the_mean_of_its_group(name: str) -> None:
    text = token_ids(2, 13)
    adapted = adapt(name, key_bias_rows="query")
    keys = modulations(adapted)[1::2]
    assert all(module.head_bias.shape == (QUERY_HEADS, PAIRS) for module in keys)
    with torch.no_grad():
        logits = adapted(input_ids=text).logits
        assert difference(logits, plain(name, adapted)(input_ids=text).logits) <= 1e-11
    adapted(input_ids=text, labels=text).loss.backward()
    assert all(bool(module.head_bias.grad.any(dim=1).all()) for module in keys)


@pytest.mark.parametrize(
    ("name", "rows", "by_hand"),
    [
        ("llama-gqa", "key", 2 * (2 * 32 * 5 + 5 * 6 * (4 + 2) + 6 * 16 + (4 + 2) * 8 + 16)),
        ("llama-gqa", "query", 2 * (2 * 32 * 5 + 5 * 6 * (4 + 2) + 6 * 16 + (4 + 4) * 8 + 16)),
        ("llama-mha", "key", 2 * (2 * 32 * 5 + 5 * 6 * (4 + 4) + 6 * 16 + (4 + 4) * 8 + 16)),
        ("llama-mha", "query", 2 * (2 * 32 * 5 + 5 * 6 * (4 + 4) + 6 * 16 + (4 + 4) * 8 + 16)),
    ],
)
def test_parameters_are_those_counted_by_hand(name: str, rows: str, by_hand: int) -> None:
    config = DyPAMConfig(r=5, d_e=6, key_bias_rows=rows)  # type: ignore[arg-type]
    assert method.parameters is not None
    assert method.parameters(config, build(name)) == by_hand
    assert method.adapt(build(name), config).get_nb_trainable_parameters()[0] == by_hand
