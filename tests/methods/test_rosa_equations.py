"""RoSA against its paper (AAAI 2026, section "RoPE-aware Attention Enhancement", eq. 2 to 4)."""

import math
import re
from typing import Any

import pytest
import torch
from peft import PeftModel
from torch import Tensor, nn
from transformers import (
    CohereConfig,
    CohereForCausalLM,
    GlmConfig,
    GlmForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    StableLmConfig,
    StableLmForCausalLM,
)

from methods.conformance.models import SHAPE, VOCABULARY, build
from methods.rosa import RoSAConfig, method
from tests.methods.attention import HEAD_SIZE, attend, rotate, theta_and_window
from tests.methods.models import bloom, in_double, logits_as_a_token_changes, opt
from tests.methods.tensors import difference, generator, random, randomise, token_ids

R, R_LOW, ALPHA = 5, 0.375, 0.7
WIDTH, QUERY_HEADS, LAYERS = 32, 4, 2

# Of a head of 16, which RoPE splits into 0 to 7 and 8 to 15: the last of each half.
SLICES = {0.125: [7, 15], 0.375: [5, 6, 7, 13, 14, 15], 1.0: list(range(16))}

NAMES = [f"{a}-{kind}" for a in ("llama", "qwen2", "qwen3", "gemma3") for kind in ("gqa", "mha")]
every_model = pytest.mark.parametrize("name", NAMES)
every_place = pytest.mark.parametrize("after_rope", [False, True], ids=["pre-rope", "post-rope"])
# What the adapter computes by itself depends on the numbers of heads alone.
both_kinds = pytest.mark.parametrize("name", ["llama-gqa", "llama-mha"])


def silu(number: float) -> float:
    return number / (1 + math.exp(-number))


def factors_by_hand(
    states: Tensor, weights: Any, key_heads: int, low: list[int]
) -> tuple[Tensor, Tensor]:
    """Compute eq. 2 to 4, number by number; `low` are the dimensions of a head in the slice."""
    down, up = weights.A.weight, weights.B.weight
    queries, keys = [], []
    for state in states.flatten(0, 1):
        signal = [silu(number) for number in (up @ (down @ state)).tolist()]  # eq. 2
        key_signal = signal
        if key_heads != QUERY_HEADS:  # eq. 3, without an activation of its own
            narrow = weights.C.weight @ torch.tensor(signal, dtype=torch.float64)
            key_signal = (weights.D.weight @ narrow).tolist()
        for factors, numbers in ((queries, signal), (keys, key_signal)):
            heads = [[1.0] * HEAD_SIZE for _ in range(len(numbers) // len(low))]
            for head, row in enumerate(heads):
                for place, dimension in enumerate(low):
                    row[dimension] += ALPHA * numbers[head * len(low) + place]  # eq. 4
            factors.append(heads)
    query, key = (torch.tensor(both, dtype=torch.float64) for both in (queries, keys))
    return query.unflatten(0, states.shape[:2]), key.unflatten(0, states.shape[:2])


class PlainAttention(nn.Module):
    """Attention with RoAE: project, normalise, enhance, rotate, attend, project."""

    def __init__(
        self, base: Any, weights: Any, theta: float, window: int | None, place: str
    ) -> None:
        super().__init__()
        self.base, self.weights, self.theta, self.window = base, weights, theta, window
        self.place = place

    def prepare(self, projected: Tensor, norm: Any, factors: Tensor) -> Tensor:
        states = projected.unflatten(-1, (-1, HEAD_SIZE))
        if self.place == "before norm":
            return rotate(norm(states * factors), self.theta)
        if self.place == "before rope":
            return rotate(norm(states) * factors, self.theta)
        return rotate(norm(states), self.theta) * factors

    def forward(self, hidden_states: Tensor, **_: Any) -> tuple[Tensor, None]:
        base = self.base
        q_norm, k_norm = (getattr(base, norm, nn.Identity()) for norm in ("q_norm", "k_norm"))
        value = base.v_proj(hidden_states).unflatten(-1, (-1, HEAD_SIZE))
        factors = factors_by_hand(hidden_states, self.weights, value.shape[2], SLICES[R_LOW])
        query = self.prepare(base.q_proj(hidden_states), q_norm, factors[0])
        key = self.prepare(base.k_proj(hidden_states), k_norm, factors[1])
        return base.o_proj(attend(query, key, value, self.window)), None


def config(**fields: Any) -> RoSAConfig:
    chosen = {"task_type": "CAUSAL_LM", "r": R, "r_low": R_LOW, "alpha": ALPHA, **fields}
    return RoSAConfig(**chosen)


def fresh(name: str, **fields: Any) -> PeftModel:
    return method.adapt(in_double(name), config(**fields)).double().eval()


def adapt(name: str, **fields: Any) -> PeftModel:
    """Put RoSA with random weights into the model."""
    return randomise(fresh(name, **fields), std=0.3)


def layers(model: Any) -> Any:
    return model.get_base_model().model.layers


def adapters(model: PeftModel) -> list[Any]:
    return [layer.self_attn.adapter_modules["default"] for layer in layers(model)]


def key_heads(name: str) -> int:
    return 2 if name.endswith("gqa") else 4


def plain(name: str, adapted: PeftModel, place: str) -> Any:
    """Build the bare model with our own attention, under the adapter's weights and norms."""
    model: Any = in_double(name)
    for layer, trained in zip(model.model.layers, layers(adapted), strict=True):
        theta, window = theta_and_window(model, layer.self_attn)
        weights = trained.self_attn.adapter_modules["default"]
        layer.self_attn = PlainAttention(layer.self_attn, weights, theta, window, place)
        for norm, module in layer.named_children():
            copies = getattr(trained.get_submodule(norm), "adapter_modules", None)
            if norm.endswith("norm") and copies is not None:
                module.weight.data = copies["default"].weight.data
    return model


@both_kinds
@pytest.mark.parametrize("r_low", SLICES)
@torch.no_grad()
def test_factors_equal_the_equations_written_out(name: str, r_low: float) -> None:
    states = random(2, 4, WIDTH)
    for adapter in adapters(adapt(name, r_low=r_low)):
        expected = factors_by_hand(states, adapter, key_heads(name), SLICES[r_low])
        for factors, by_hand in zip(adapter(states), expected, strict=True):
            assert factors.shape == by_hand.shape
            assert difference(factors, by_hand) <= 1e-11
            assert difference(by_hand, torch.ones_like(by_hand)) > 0.1


@both_kinds
@torch.no_grad()
def test_fast_dimensions_are_untouched_and_the_halves_have_factors_of_their_own(name: str) -> None:
    low = SLICES[R_LOW]
    fast = [dimension for dimension in range(HEAD_SIZE) if dimension not in low]
    for adapter in adapters(adapt(name)):
        for factors in adapter(random(2, 13, WIDTH)):
            assert torch.equal(factors[..., fast], torch.ones_like(factors[..., fast]))
            assert difference(factors[..., low[:3]], factors[..., low[3:]]) > 0.1


@torch.no_grad()
def test_queries_and_keys_share_one_signal_unless_attention_is_grouped() -> None:
    for adapter in adapters(adapt("llama-mha")):
        assert [name for name, _ in adapter.named_parameters()] == ["A.weight", "B.weight"]
        query, key = adapter(random(2, 4, WIDTH))
        assert torch.equal(query, key)
    for adapter in adapters(adapt("llama-gqa")):
        shapes = {name: tuple(weight.shape) for name, weight in adapter.named_parameters()}
        assert shapes == {
            "A.weight": (5, 32),
            "B.weight": (24, 5),
            "C.weight": (5, 24),
            "D.weight": (12, 5),
        }


@both_kinds
def test_gradients_equal_finite_differences_of_the_equations(name: str) -> None:
    adapter = adapters(adapt(name))[0]
    states = random(2, 3, WIDTH)
    directions = [torch.randn_like(factors) for factors in adapter(states)]

    def value(both: tuple[Tensor, Tensor]) -> Tensor:
        products = zip(both, directions, strict=True)
        return torch.stack([(factors * along).sum() for factors, along in products]).sum()

    def by_hand() -> float:
        return float(value(factors_by_hand(states, adapter, key_heads(name), SLICES[R_LOW])))

    value(adapter(states)).backward()
    for parameter in adapter.parameters():
        for place in ((0, 0), (-1, -1)):
            start, step = parameter.data[place].item(), 1e-5
            parameter.data[place] = start + step
            above = by_hand()
            parameter.data[place] = start - step
            below = by_hand()
            parameter.data[place] = start
            slope = (above - below) / (2 * step)
            assert float(parameter.grad[place]) == pytest.approx(slope, rel=1e-6, abs=1e-7)


@every_model
@every_place
@torch.no_grad()
def test_logits_equal_those_of_a_plain_implementation(name: str, after_rope: bool) -> None:
    text = token_ids(2, 13)  # more than Gemma's window holds
    adapted = adapt(name, after_rope=after_rope)
    logits = adapted(input_ids=text).logits
    place = "after rope" if after_rope else "before rope"
    assert difference(logits, plain(name, adapted, place)(input_ids=text).logits) <= 1e-11
    assert difference(logits, in_double(name)(input_ids=text).logits) > 1e-4


@pytest.mark.parametrize("name", [name for name in NAMES if name[:5] in ("qwen3", "gemma")])
@torch.no_grad()
def test_factors_before_the_norm_of_queries_and_keys_would_be_another_model(name: str) -> None:
    text = token_ids(2, 13)
    adapted = adapt(name)
    other = plain(name, adapted, "before norm")
    assert difference(adapted(input_ids=text).logits, other(input_ids=text).logits) > 1e-4


@every_model
@torch.no_grad()
def test_enhancing_before_rope_is_not_enhancing_after_it(name: str) -> None:
    text = token_ids(2, 13)
    before, after = (adapt(name, after_rope=after) for after in (False, True))
    factors, _ = adapters(before)[0](random(2, 13, WIDTH))
    states = random(2, 13, QUERY_HEADS, HEAD_SIZE)
    assert difference(rotate(factors * states, 1e4), factors * rotate(states, 1e4)) > 0.1
    # Small, since over 13 tokens the slow dimensions hardly turn.
    assert difference(before(input_ids=text).logits, after(input_ids=text).logits) > 1e-6


@pytest.mark.parametrize("name", ["llama-gqa", "gemma3-mha"])
@torch.no_grad()
def test_with_equal_factors_on_both_halves_the_two_places_agree(name: str) -> None:
    text = token_ids(2, 13)
    logits = []
    for after_rope in (False, True):
        adapted = adapt(name, after_rope=after_rope)
        for adapter in adapters(adapted):
            for up in [adapter.B, adapter.D] if name.endswith("gqa") else [adapter.B]:
                rows = up.weight.unflatten(0, (-1, 2, 3))  # heads, halves, dimensions of the slice
                rows[:, 1] = rows[:, 0]
        logits.append(adapted(input_ids=text).logits)
    assert difference(*logits) <= 1e-11
    assert difference(logits[0], in_double(name)(input_ids=text).logits) > 1e-3


@every_model
@every_place
@torch.no_grad()
def test_training_starts_at_the_base(name: str, after_rope: bool) -> None:
    text = token_ids(2, 13)
    start = fresh(name, after_rope=after_rope)
    for adapter in adapters(start):
        for factors in adapter(random(2, 13, WIDTH)):
            assert torch.equal(factors, torch.ones_like(factors))
        assert not adapter.B.weight.any()
        assert all(bool(w.all()) for key, w in adapter.named_parameters() if key[0] != "B")
    base = in_double(name)(input_ids=text).logits
    assert difference(start(input_ids=text).logits, base) <= 1e-12


@torch.no_grad()
def test_factors_of_a_token_depend_on_that_token_alone() -> None:
    states = random(2, 13, WIDTH)
    order = torch.randperm(13, generator=generator(4))
    for adapter in adapters(adapt("llama-gqa")):
        for factors, permuted in zip(adapter(states), adapter(states[:, order]), strict=True):
            assert difference(factors[:, order], permuted) <= 1e-12


@every_model
@every_place
@torch.no_grad()
def test_a_later_token_changes_no_earlier_output(name: str, after_rope: bool) -> None:
    adapted = adapt(name, after_rope=after_rope)
    left, right = logits_as_a_token_changes(adapted, token_ids(2, 13), at=7)
    assert difference(left[:, :7], right[:, :7]) <= 1e-12
    assert difference(left[:, 7:], right[:, 7:]) > 1e-3


NORMS = {
    "llama": {"input_layernorm", "post_attention_layernorm"},
    "qwen3": {"input_layernorm", "post_attention_layernorm"},
    "gemma3": {
        "input_layernorm",
        "post_attention_layernorm",
        "pre_feedforward_layernorm",
        "post_feedforward_layernorm",
    },
}


@pytest.mark.parametrize("architecture", NORMS)
@pytest.mark.parametrize("train_norms", [False, True])
def test_norms_of_the_layers_train_only_when_asked(architecture: str, train_norms: bool) -> None:
    model = fresh(f"{architecture}-gqa", train_norms=train_norms)
    names = [name for name, weight in model.named_parameters() if weight.requires_grad]
    parts = {re.sub(r"^.*layers\.\d+\.|adapter_modules\.default\.", "", name) for name in names}
    norms = {f"{norm}.weight" for norm in NORMS[architecture]} if train_norms else set()
    assert parts == {f"self_attn.{matrix}.weight" for matrix in "ABCD"} | norms
    assert len(names) == LAYERS * len(parts)


@pytest.mark.parametrize("architecture", NORMS)
@torch.no_grad()
def test_logits_with_trained_norms_equal_those_of_a_plain_implementation(architecture: str) -> None:
    name, text = f"{architecture}-gqa", token_ids(2, 13)
    adapted = adapt(name, train_norms=True)
    other = plain(name, adapted, "before rope")
    assert difference(adapted(input_ids=text).logits, other(input_ids=text).logits) <= 1e-11


@pytest.mark.parametrize(
    ("name", "train_norms", "by_hand"),
    [
        ("llama-mha", False, 2 * (32 * 5 + 5 * 4 * 6)),
        ("llama-gqa", False, 2 * (32 * 5 + 5 * 4 * 6 + (4 + 2) * 6 * 5)),
        ("llama-gqa", True, 2 * (32 * 5 + 5 * 4 * 6 + (4 + 2) * 6 * 5 + 2 * 32)),
        ("gemma3-gqa", True, 2 * (32 * 5 + 5 * 4 * 6 + (4 + 2) * 6 * 5 + 4 * 32)),
    ],
)
def test_as_many_parameters_train_as_counted_by_hand(
    name: str, train_norms: bool, by_hand: int
) -> None:
    trained, _ = fresh(name, train_norms=train_norms).get_nb_trainable_parameters()
    assert trained == by_hand
    assert method.parameters is not None
    assert method.parameters(config(train_norms=train_norms), build(name)) == by_hand


def test_defaults_are_the_papers_and_each_variant_changes_what_its_name_says() -> None:
    default = method.configure()
    assert (default.r, default.r_low, default.alpha) == (128, 0.25, 0.1)
    assert (default.after_rope, default.train_norms) == (False, False)
    selection = method.layer_selection({})
    assert selection is not None
    assert (selection.ratio, selection.interval, selection.exploit) == (0.5, 40, 0.8)
    assert not selection.freeze
    names = method.variants
    assert method.configure(**names["roae-0.5"]).r_low == 0.5
    assert method.configure(**names["post-rope"]).after_rope
    assert method.configure(**names["rosa-paper"]).train_norms
    assert method.configure(**names["dypam-paper"]).train_norms
    assert method.layer_selection(names["roae-only"]) is None
    frozen = method.layer_selection(names["frozen-layers"])
    assert frozen is not None
    assert (frozen.freeze, frozen.interval) == (True, 40)


@pytest.mark.parametrize("r_low", [0.2, 0.1875])
def test_a_ratio_that_gives_no_whole_number_of_pairs_is_refused(r_low: float) -> None:
    with pytest.raises(ValueError, match=rf"r_low = {r_low} of a head of 16\b.* 0\.125\b"):
        method.adapt(build("llama-gqa"), config(r_low=r_low))


def llama(head_size: int) -> PreTrainedModel:
    shape = LlamaConfig(num_key_value_heads=2, **SHAPE)
    shape.head_dim = head_size  # an odd one is refused by the configuration's own constructor
    return LlamaForCausalLM(shape)


# 0.14 x 100 and 30 / 44 x 44 are not whole in floating point.
@pytest.mark.parametrize(
    ("head_size", "r_low", "pairs"),
    [(128, 0.25, 16), (256, 0.25, 32), (80, 0.55, 22), (100, 0.14, 7), (44, 30 / 44, 15)],
)
def test_a_ratio_that_gives_a_whole_number_of_pairs_is_taken(
    head_size: int, r_low: float, pairs: int
) -> None:
    model = method.adapt(llama(head_size), config(r_low=r_low))
    for adapter in adapters(model):
        assert adapter.B.out_features == QUERY_HEADS * 2 * pairs
        assert adapter.D.out_features == 2 * 2 * pairs


@pytest.mark.parametrize(
    ("field", "value", "limit"),
    [
        ("r", 0, "1"),
        ("r_low", 0.0, "0"),
        ("r_low", -0.25, "0"),
        ("r_low", 1.125, "1"),
        ("r_low", math.nan, "0"),
        ("alpha", 0.0, "0"),
        ("alpha", math.inf, "0"),
    ],
)
def test_a_bad_field_is_refused_with_field_value_and_limit(
    field: str, value: float, limit: str
) -> None:
    with pytest.raises(ValueError, match=rf"^{field} must be .*\b{limit}\b.*, not {value}\.$"):
        method.adapt(build("llama-gqa"), config(**{field: value}))


SMALL: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}


@pytest.mark.parametrize("builder", [bloom, opt])
def test_a_model_without_rope_is_refused(builder: Any) -> None:
    model = builder()
    with pytest.raises(ValueError, match=rf"^{type(model).__name__} .*rotary.*RoPE") as refused:
        method.adapt(model, config())
    assert "\n" not in str(refused.value)


def test_an_odd_head_size_is_refused() -> None:
    with pytest.raises(ValueError, match=r"layers\.0\.self_attn.* head size is 15\b.*even"):
        method.adapt(llama(15), config(r_low=0.4))


def stablelm() -> PreTrainedModel:
    """Build a StableLM: RoPE turns the first quarter of a head, dimension i with i + 2."""
    return StableLmForCausalLM(StableLmConfig(**SMALL))


def glm() -> PreTrainedModel:
    """Build a GLM: RoPE turns the first half of a head, dimension 2i with 2i + 1."""
    return GlmForCausalLM(GlmConfig(head_dim=16, **SMALL))


def cohere() -> PreTrainedModel:
    """Build a Cohere: RoPE turns all of a head, dimension 2i with 2i + 1."""
    return CohereForCausalLM(CohereConfig(**SMALL))


# The last dimensions of each half of a head are the slowest pairs only where RoPE turns dimension
# i together with i + d_head / 2 (the paper's preliminaries); elsewhere they are others, or do not
# turn at all.
@pytest.mark.parametrize("builder", [stablelm, glm, cohere])
def test_a_model_whose_rotary_pairs_are_not_made_of_the_two_halves_is_refused(builder: Any) -> None:
    model = builder()
    with pytest.raises(ValueError, match=r"(?i)rotary|RoPE"):
        method.adapt(model, config())
