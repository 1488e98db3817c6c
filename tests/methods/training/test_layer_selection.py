"""Dynamic layer selection against the paper of RoSA (AAAI 2026, eq. 5 and 6 and algorithm 1)."""

import contextlib
import dataclasses
import json
import math
import random
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import peft
import pytest
import torch
from peft import PeftModel
from torch import Tensor, nn
from transformers import (
    BloomConfig,
    BloomForCausalLM,
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaConfig,
    LlamaForCausalLM,
    OPTConfig,
    OPTForCausalLM,
    PreTrainedModel,
)

from methods.conformance.models import SHAPE, VOCABULARY
from methods.lora import method as lora
from methods.rosa import RoSAConfig
from methods.rosa import method as rosa
from methods.training.hooks import TrainingAhead
from methods.training.layer_selection import DynamicLayerSelection, LayerSelection

# The norms before attention and before the feed-forward part. A layer of Gemma 3 has two more.
NORMS = {
    "llama": ("input_layernorm", "post_attention_layernorm"),
    "gemma3": ("input_layernorm", "pre_feedforward_layernorm"),
}
KINDS = ["rosa", "rosa-norms", "lora", "ln-tuning"]

# PEFT's LN tuning does not know the norms of these models by name.
pytestmark = pytest.mark.filterwarnings("ignore:Unsupported layer type:UserWarning")

every_architecture = pytest.mark.parametrize("architecture", NORMS)
every_kind = pytest.mark.parametrize("kind", KINDS)
frozen_or_not = pytest.mark.parametrize("freeze", [False, True], ids=["zeroed", "frozen"])


def bare(architecture: str, layers: int) -> PreTrainedModel:
    shape = {**SHAPE, "num_hidden_layers": layers, "num_key_value_heads": 2}
    if architecture == "llama":
        return LlamaForCausalLM(LlamaConfig(**shape))
    types = ["full_attention" if layer % 2 else "sliding_attention" for layer in range(layers)]
    return Gemma3ForCausalLM(Gemma3TextConfig(layer_types=types, sliding_window=8, **shape))


def put(kind: str, model: PreTrainedModel, norms: tuple[str, ...]) -> PeftModel:
    if kind == "lora":
        return lora.adapt(model, lora.configure(r=3, target_modules=["q_proj", "down_proj"]))
    if kind == "ln-tuning":
        tuned = peft.LNTuningConfig(task_type="CAUSAL_LM", target_modules=list(norms))
        return peft.get_peft_model(model, tuned)
    config = RoSAConfig(task_type="CAUSAL_LM", r=3, train_norms=kind == "rosa-norms")
    return rosa.adapt(model, config)


def adapted(kind: str = "rosa", architecture: str = "llama", layers: int = 4) -> PeftModel:
    """Build an adapted model in float64 with random weights, the same at each call."""
    model = put(kind, bare(architecture, layers), NORMS[architecture]).double()
    generator = torch.Generator().manual_seed(1)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3, generator=generator)
    return model


def norm_weights(model: Any) -> list[list[nn.Parameter]]:
    """Find, by layer, the weights that compute in the two norms: trained copies where there are."""
    layers = model.get_base_model().model.layers
    names = NORMS["gemma3" if hasattr(layers[0], "pre_feedforward_layernorm") else "llama"]
    found = []
    for layer in layers:
        norms = [getattr(layer, name) for name in names]
        for copies in ("adapter_modules", "ln_tuning_layers"):
            norms = [
                getattr(norm, copies)["default"] if hasattr(norm, copies) else norm
                for norm in norms
            ]
        found.append([norm.weight for norm in norms])
    return found


def trained(model: PeftModel) -> dict[str, nn.Parameter]:
    return {name: weight for name, weight in model.named_parameters() if weight.requires_grad}


def layer_of(name: str) -> int:
    found = re.search(r"\.layers\.(\d+)\.", name)
    assert found, name
    return int(found[1])


def batches(step: int, count: int = 1) -> list[Tensor]:
    generator = torch.Generator().manual_seed(step)
    return [torch.randint(VOCABULARY, (2, 9), generator=generator) for _ in range(count)]


def loss(model: PeftModel, texts: list[Tensor]) -> Tensor:
    losses = [model(input_ids=ids, labels=ids).loss for ids in texts]
    return torch.stack(losses).mean()


def select(
    model: PeftModel, steps: int = 100, warmup: int = 0, seed: int = 0, **settings: Any
) -> DynamicLayerSelection:
    chosen = {"ratio": 0.5, "interval": 1, "exploit": 1.0, **settings}
    return DynamicLayerSelection(
        model, LayerSelection(**chosen), TrainingAhead(steps, warmup, seed)
    )


def scores_apart(model: PeftModel, texts: list[Tensor]) -> list[float]:
    """Compute eq. 5 by autograd, on a model whose norms all require a gradient."""
    norms = norm_weights(model)
    for weight in [weight for pair in norms for weight in pair]:
        weight.requires_grad = True
    value = loss(model, texts)
    scores = []
    for pair in norms:
        attention, feed_forward = torch.autograd.grad(value, pair, retain_graph=True)
        squares = [g**2 for g in attention.tolist()] + [g**2 for g in feed_forward.tolist()]
        scores.append(math.sqrt(math.fsum(squares)))
    return scores


def write(model: PeftModel, scores: list[float]) -> None:
    """Write gradients: random ones everywhere, but those of the norms so that the scores come out.

    A layer of score s gets the gradients (0.6 s, 0, ..) and (0.8 s, 0, ..).
    """
    generator = torch.Generator().manual_seed(2)
    for parameter in model.parameters():
        parameter.grad = None
        if parameter.requires_grad:
            shape, dtype = parameter.shape, torch.float64
            parameter.grad = torch.randn(shape, generator=generator, dtype=dtype)
    for pair, score in zip(norm_weights(model), scores, strict=True):
        for weight, share in zip(pair, (0.6, 0.8), strict=True):
            if weight.requires_grad:
                weight.grad = torch.zeros_like(weight)
                weight.grad[0] = share * score


def play(selection: DynamicLayerSelection, steps: int, scores: list[float]) -> list[list[int]]:
    """Run the hooks on gradients written by hand; list what each selection took."""
    for step in range(1, steps + 1):
        selection.before_forward(step)
        write(selection.model, scores)
        selection.after_backward(step)
    return [sorted(event["selected"]) for event in selection.history]


def train(
    selection: DynamicLayerSelection, steps: int, optimizer: torch.optim.Optimizer
) -> Iterator[tuple[int, dict[str, Tensor], dict[str, Any]]]:
    """Train; after each step yield the gradients before and after the hook."""
    model = selection.model
    names = list(trained(model))
    for step in range(1, steps + 1):
        optimizer.zero_grad()
        selection.before_forward(step)
        loss(model, batches(step)).backward()
        weights = {name: model.get_parameter(name) for name in names}
        before = {
            name: weight.grad.clone() for name, weight in weights.items() if weight.grad is not None
        }
        selection.after_backward(step)
        optimizer.step()
        yield step, before, {name: weight.grad for name, weight in weights.items()}


def adamw(model: PeftModel, **options: Any) -> torch.optim.AdamW:
    return torch.optim.AdamW(trained(model).values(), lr=1e-2, **{"weight_decay": 0.0, **options})


@every_architecture
@every_kind
def test_scores_equal_the_gradient_norms_of_the_two_norms_taken_apart(
    kind: str, architecture: str
) -> None:
    model = adapted(kind, architecture)
    texts = batches(1, 3)  # accumulated
    selection = select(model)
    selection.before_forward(1)
    for ids in texts:
        (loss(model, [ids]) / 3).backward()
    selection.after_backward(1)
    (event,) = selection.history
    expected = scores_apart(adapted(kind, architecture), texts)
    assert sorted(event["scores"]) == [0, 1, 2, 3]
    for layer, score in enumerate(expected):
        assert event["scores"][layer] == pytest.approx(score, rel=1e-6)  # scores are float32
    ranks = sorted(range(4), key=lambda layer: -expected[layer])
    assert sorted(event["selected"]) == sorted(ranks[:2])


@every_kind
def test_a_layer_of_gradients_3_and_4_has_score_5(kind: str) -> None:
    selection = select(adapted(kind))
    play(selection, 1, [5.0, 10.0, 0.0, 2.5])
    assert list(selection.history[0]["scores"].values()) == pytest.approx([5.0, 10.0, 0.0, 2.5])


@every_architecture
@pytest.mark.parametrize("kind", ["rosa", "lora"])
def test_after_every_step_the_norms_are_frozen_and_gradless_again(
    kind: str, architecture: str
) -> None:
    model = adapted(kind, architecture)
    names = set(trained(model))
    frozen = {n: w.detach().clone() for n, w in model.named_parameters() if n not in names}
    for _ in train(select(model, interval=2, warmup=1), 5, adamw(model)):
        assert set(trained(model)) == names
        assert all(model.get_parameter(name).grad is None for name in frozen)
    assert all(torch.equal(model.get_parameter(name), weight) for name, weight in frozen.items())


@pytest.mark.parametrize("kind", ["rosa-norms", "ln-tuning"])
def test_trained_norms_still_train_after_a_selection(kind: str) -> None:
    model = adapted(kind)
    names = set(trained(model))
    for _ in train(select(model, interval=2), 5, adamw(model)):
        assert set(trained(model)) == names


@pytest.mark.parametrize(
    ("warmup", "interval", "expected"),
    [
        (0, 4, [4, 8, 12, 16, 20]),
        (3, 4, [4, 8, 12, 16, 20]),
        (4, 4, [8, 12, 16, 20]),  # a step must be larger than T_warmup: algorithm 1, line 7
        (5, 4, [8, 12, 16, 20]),
        (9, 5, [10, 15, 20]),
        (18, 1, [19, 20]),
        (20, 4, []),
    ],
)
def test_selections_are_at_the_multiples_of_the_interval_after_warm_up(
    warmup: int, interval: int, expected: list[int]
) -> None:
    selection = select(adapted(layers=2), steps=20, warmup=warmup, interval=interval)
    play(selection, 20, [1.0, 2.0])
    assert [event["step"] for event in selection.history] == expected


def test_until_the_first_selection_all_layers_train() -> None:
    model = adapted("lora")
    selection = select(model, warmup=3, interval=3)
    for step, before, after in train(selection, 6, adamw(model)):
        changed = [name for name in before if not torch.equal(before[name], after[name])]
        assert bool(changed) == (step == 6)
        assert all(before[name].any() for name in before)


@every_kind
@frozen_or_not
def test_gradients_of_unselected_layers_vanish_and_others_stay_as_they_were(
    kind: str, freeze: bool
) -> None:
    model = adapted(kind)
    selection = select(model, interval=2, freeze=freeze, exploit=0.5, seed=4)
    for step, before, after in train(selection, 9, adamw(model)):
        selected = selection.history[-1]["selected"] if step > 1 else range(4)
        assert len(selection.history) == step // 2
        for name, gradient in after.items():
            if layer_of(name) in selected:
                assert torch.equal(gradient, before[name])
            elif freeze:
                assert gradient is None
            else:
                assert torch.equal(gradient, torch.zeros_like(before[name]))
    assert len({tuple(event["selected"]) for event in selection.history}) > 1


@every_architecture
def test_taking_a_gradient_for_the_norms_changes_no_other_gradient(architecture: str) -> None:
    hooked, free = adapted("lora", architecture), adapted("lora", architecture)
    selection = select(hooked, ratio=1.0)
    selection.before_forward(1)
    for model in (hooked, free):
        loss(model, batches(1)).backward()
    selection.after_backward(1)
    assert trained(hooked).keys() == trained(free).keys()
    for name, weight in trained(free).items():
        torch.testing.assert_close(
            hooked.get_parameter(name).grad, weight.grad, rtol=1e-11, atol=1e-11
        )


def test_a_selection_holds_until_the_next_whatever_the_gradients_say() -> None:
    model = adapted()
    selection = select(model, interval=3)
    favourite = {1: 0, 2: 1, 3: 2, 4: 3, 5: 0, 6: 1, 7: 2, 8: 3}
    training = []
    for step, best in favourite.items():
        selection.before_forward(step)
        write(model, [10.0 if layer >= best else 1.0 + layer for layer in range(4)])
        selection.after_backward(step)
        live = {
            layer_of(n) for n, w in trained(model).items() if w.grad is not None and w.grad.any()
        }
        training.append(sorted(live))
    assert training == [[0, 1, 2, 3]] * 2 + [[2, 3]] * 3 + [training[5]] * 3
    assert [event["step"] for event in selection.history] == [3, 6]
    assert sorted(selection.history[1]["selected"]) == training[5]
    assert len(training[5]) == 2
    assert 0 not in training[5]


def test_parameters_of_no_layer_always_train() -> None:
    model = adapted("lora")
    final: Any = model.get_base_model().model.norm.weight
    final.requires_grad = True
    selection = select(model, freeze=True)
    for step in (1, 2):
        selection.before_forward(step)
        write(model, [1.0, 2.0, 3.0, 4.0])
        gradient = final.grad.clone()
        selection.after_backward(step)
        assert torch.equal(final.grad, gradient)
        assert final.requires_grad


def test_exploitation_takes_the_layers_of_the_largest_scores() -> None:
    model = adapted(layers=6)
    shuffle = random.Random(5)
    for ratio, count in ((1 / 6, 1), (0.5, 3), (5 / 6, 5)):
        selection = select(model, ratio=ratio)
        for step in range(1, 11):
            scores = [float(rank) for rank in range(6)]
            shuffle.shuffle(scores)
            selection.before_forward(step)
            write(model, scores)
            selection.after_backward(step)
            event = selection.history[-1]
            assert event["exploited"]
            assert sorted(scores[layer] for layer in event["selected"]) == list(range(6))[-count:]


@pytest.mark.parametrize("exploit", [0.0, 0.5])
def test_choices_by_chance_are_the_seeds_alone(exploit: float) -> None:
    rising, falling = [1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0]

    def run(seed: int, scores: list[float]) -> list[tuple[bool, list[int]]]:
        selection = select(adapted(), exploit=exploit, seed=seed)
        selected = play(selection, 25, scores)
        return list(zip([e["exploited"] for e in selection.history], selected, strict=True))

    first = run(1, rising)
    torch.manual_seed(99)
    random.seed(99)
    other = run(1, falling)
    assert run(1, rising) == first
    assert [exploited for exploited, _ in other] == [exploited for exploited, _ in first]
    for (exploited, left), (_, right) in zip(first, other, strict=True):
        assert (left, right) == ([2, 3], [0, 1]) if exploited else left == right
    assert run(2, rising) != first


def test_choices_draw_from_no_generator_that_others_use() -> None:
    selection = select(adapted(), exploit=0.5)
    states = torch.get_rng_state(), random.getstate()
    for step in range(1, 9):
        selection.before_forward(step)
        for weight in (weight for weight in selection.model.parameters() if weight.requires_grad):
            weight.grad = torch.ones_like(weight)
        selection.after_backward(step)
    assert torch.equal(torch.get_rng_state(), states[0])
    assert random.getstate() == states[1]
    assert len(selection.history) == 8


EVENTS = 400
# Hoeffding: a share of n draws is off by this or more with probability 2 exp(-2 n e^2) = 1e-9.
OFF = math.sqrt(math.log(2e9) / (2 * EVENTS))


@pytest.mark.parametrize("exploit", [0.3, 0.8])
def test_scores_decide_in_the_share_of_selections_that_is_asked_for(exploit: float) -> None:
    selection = select(adapted(layers=2), exploit=exploit, seed=2333)
    play(selection, EVENTS, [1.0, 2.0])
    share = sum(event["exploited"] for event in selection.history) / EVENTS
    assert abs(share - exploit) < OFF
    by_score = [event["selected"] for event in selection.history if event["exploited"]]
    assert all(list(selected) == [1] for selected in by_score)


def test_exploration_takes_as_many_layers_and_each_as_often() -> None:
    selection = select(adapted("rosa", layers=3), ratio=2 / 3, exploit=0.0, seed=2333)
    selected = play(selection, EVENTS, [1.0, 2.0, 3.0])
    assert not any(event["exploited"] for event in selection.history)
    assert {len(set(layers)) for layers in selected} == {2} == {len(layers) for layers in selected}
    for layer in range(3):
        assert abs(sum(layer in layers for layers in selected) / EVENTS - 2 / 3) < OFF
    repeated = sum(left == right for left, right in pairwise(selected)) / EVENTS
    assert abs(repeated - 1 / 3) < 2 * OFF


@pytest.mark.parametrize("exploit", [0.0, 1.0])
@pytest.mark.parametrize(
    ("layers", "ratio", "count"),
    [
        (1, 0.5, 1),  # 0.5
        (3, 0.5, 2),  # 1.5
        (5, 0.5, 3),  # 2.5
        (7, 0.5, 4),  # 3.5
        (4, 0.5, 2),  # 2
        (4, 0.1, 1),  # 0.4
        (4, 0.6, 3),  # 2.4
        (4, 0.65, 3),  # 2.6
        (6, 5 / 6, 5),  # 5
        (25, 0.28, 7),  # 7; as a product of floats 7.000000000000001
        (4, 1e-12, 1),
        (4, 1.0, 4),
    ],
)
def test_the_number_of_layers_is_rounded_up(
    layers: int, ratio: float, count: int, exploit: float
) -> None:
    selection = select(adapted(layers=layers), ratio=ratio, exploit=exploit)
    (selected,) = play(selection, 1, [float(layer) for layer in range(layers)])
    assert len(set(selected)) == count


def follow(start: Tensor, gradients: list[Tensor | None], lr: float, decay: float) -> list[Tensor]:
    """Compute AdamW (Loshchilov and Hutter, algorithm 2); None is a step that it leaves out."""
    weight, first, second, taken, path = start, 0.0, 0.0, 0, []
    for gradient in gradients:
        if gradient is not None:
            taken += 1
            weight = weight - lr * decay * weight
            first = 0.9 * first + 0.1 * gradient
            second = 0.999 * second + 0.001 * gradient**2
            size = (second / (1 - 0.999**taken)) ** 0.5 + 1e-8
            weight = weight - lr * first / (1 - 0.9**taken) / size
        path.append(weight)
    return path


@frozen_or_not
@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_momentum_moves_a_zeroed_layer_on_but_not_a_frozen_one(freeze: bool, decay: float) -> None:
    model = adapted("lora", layers=2)
    selection = select(model, interval=3, freeze=freeze)
    optimizer = adamw(model, weight_decay=decay)
    weights = {name: weight for name, weight in trained(model).items() if layer_of(name) == 1}
    starts = {name: weight.detach().clone() for name, weight in weights.items()}
    gradients: dict[str, list[Tensor | None]] = {name: [] for name in weights}
    paths: dict[str, list[Tensor]] = {name: [] for name in weights}
    for step in range(1, 9):
        selection.before_forward(step)
        # Layer 0 is selected at step 3, layer 1 at step 6.
        write(model, [2.0, 1.0] if step < 6 else [1.0, 2.0])
        written: dict[str, Any] = {name: weight.grad.clone() for name, weight in weights.items()}
        selection.after_backward(step)
        optimizer.step()
        for name, weight in weights.items():
            masked = None if freeze else torch.zeros_like(weight)
            gradients[name].append(masked if step in (3, 4, 5) else written[name])
            paths[name].append(weight.detach().clone())
    for name, path in paths.items():
        expected = follow(starts[name], gradients[name], 1e-2, decay)
        torch.testing.assert_close(path, expected, rtol=1e-11, atol=1e-11)
        for step in (3, 4, 5):
            assert torch.equal(path[step - 1], path[step - 2]) == freeze


def test_a_selection_is_recorded_as_json() -> None:
    selection = select(adapted(layers=2), interval=2)
    play(selection, 4, [1.0, 2.0])
    (record,) = json.loads(json.dumps(selection.record())).values()
    assert record["settings"] == {"ratio": 0.5, "interval": 2, "exploit": 1.0, "freeze": False}
    assert [event["step"] for event in record["history"]] == [2, 4]
    assert [event["selected"] for event in record["history"]] == [[1], [1]]
    assert list(record["history"][0]["scores"].values()) == pytest.approx([1.0, 2.0])


def test_settings_default_to_the_papers_and_cannot_be_changed() -> None:
    settings = LayerSelection()
    assert dataclasses.astuple(settings) == (0.5, 40, 0.8, False)
    with pytest.raises(dataclasses.FrozenInstanceError):
        settings.ratio = 1.0  # type: ignore[misc]


@pytest.mark.parametrize(
    ("field", "value", "limits"),
    [
        ("ratio", 0.0, "0.*1"),
        ("ratio", -0.5, "0.*1"),
        ("ratio", 1.5, "0.*1"),
        ("ratio", math.nan, "0.*1"),
        ("interval", 0, "1"),
        ("interval", -3, "1"),
        ("exploit", -0.1, "0.*1"),
        ("exploit", 1.1, "0.*1"),
        ("exploit", math.nan, "0.*1"),
    ],
)
def test_a_bad_setting_is_refused_with_field_value_and_limit(
    field: str, value: float, limits: str
) -> None:
    with pytest.raises(ValueError, match=rf"\b{field} must be .*{limits}.*, not {value}\.$"):
        LayerSelection(**{field: value})


def bloom() -> PreTrainedModel:
    """Build a BLOOM: its layers are `h`, its norms are named as Llama's."""
    return BloomForCausalLM(BloomConfig(vocab_size=VOCABULARY, hidden_size=32, n_layer=2, n_head=4))


def opt() -> PreTrainedModel:
    """Build an OPT: its layers are `layers`, its norms are named otherwise."""
    shape: dict[str, Any] = {"hidden_size": 32, "word_embed_proj_dim": 32, "ffn_dim": 48}
    return OPTForCausalLM(
        OPTConfig(vocab_size=VOCABULARY, num_hidden_layers=2, num_attention_heads=4, **shape)
    )


def test_a_model_without_the_two_norms_is_refused() -> None:
    with pytest.raises(ValueError, match=r"layer 0 .* no layer norm before attention"):
        select(lora.adapt(opt(), lora.configure(r=3)))


def test_layers_that_go_by_another_name_are_selected_or_the_model_is_refused() -> None:
    model = lora.adapt(bloom(), lora.configure(r=3))
    selection = None
    with contextlib.suppress(ValueError):
        selection = select(model)
    if selection is not None:
        selection.before_forward(1)
        loss(model, batches(1)).backward()
        selection.after_backward(1)
        (event,) = selection.history
        assert (len(event["scores"]), len(event["selected"])) == (2, 1)
