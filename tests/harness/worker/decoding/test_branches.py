"""Options as branches of one sequence, against each option's own text, read alone."""

import copy
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import FalconConfig, FalconForCausalLM, MptConfig, MptForCausalLM

from harness import plugins
from harness.worker.decoding.branches import Branches, read_and_score, score
from harness.worker.decoding.decode import Answer
from harness.worker.decoding.likelihood import likelihoods
from harness.worker.decoding.reading import read_prompts
from harness.worker.decoding.slots import refusal
from harness.worker.encode import Example
from methods.conformance.models import BUILDS, VOCABULARY, build
from methods.conformance.probes import train
from tests.methods.models import bloom

PAD = 0
METHODS = plugins.names("methods")
SHAPE: dict[str, Any] = {"vocab_size": VOCABULARY, "hidden_size": 32}

Options = Sequence[Sequence[Sequence[int]]]


def drawn(*lengths: int) -> list[list[int]]:
    """Draw token ids of some lengths, always the same."""
    generator = torch.Generator().manual_seed(sum(lengths))
    return [torch.randint(3, VOCABULARY, (n,), generator=generator).tolist() for n in lengths]


PROMPTS = [[4, 5, 6, *rest] for rest in drawn(1, 4, 21, 2, 9, 30, 3, 3, 8, 5, 12)]
"""More than are read in one pass; a window of the models is 8 tokens."""

OPTIONS = [
    [[7, *start, *end] for end in ([8], [9], [10, 11], [10, 12, 13], drawn(11)[0])] + [[7, 8]]
    for start in drawn(*range(1, 12))
]


@torch.inference_mode()
def alone(model: Any, prompt: list[int], option: Sequence[int]) -> float:
    logits = model(input_ids=torch.tensor([[*prompt, *option]])).logits[0].double()
    scored = logits.log_softmax(-1)[len(prompt) - 1 : -1]
    return float(scored[range(len(option)), list(option)].sum())


def offering(prompts: list[list[int]], options: Options) -> list[Answer]:
    return [
        Answer(prompt, options={str(place): list(one) for place, one in enumerate(offered)})
        for prompt, offered in zip(prompts, options, strict=True)
    ]


def scored(model: Any, prompts: list[list[int]], options: Options) -> list[list[float]]:
    answers = offering(prompts, options)
    list(read_and_score(model, answers, PAD))
    return [list(answer.scores.values()) for answer in answers]


def agrees(model: Any, prompts: list[list[int]], options: Options, within: float) -> None:
    found = scored(model, prompts, options)
    expected = [
        [alone(model, prompt, option) for option in offered]
        for prompt, offered in zip(prompts, options, strict=True)
    ]
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other, rel=within)


IN_DOUBLE = [name for name in BUILDS if not name.startswith("gemma2")]
"""Gemma 2 takes the softmax of its attention in float32, whatever its weights are."""


@pytest.mark.parametrize("name", BUILDS)
def test_branches_are_scored_as_each_text_alone_on_every_architecture(name: str) -> None:
    agrees(build(name), PROMPTS, OPTIONS, 1e-5)


@pytest.mark.parametrize("name", IN_DOUBLE)
def test_branches_are_scored_as_each_text_alone_in_float64(name: str) -> None:
    agrees(build(name).double(), PROMPTS, OPTIONS, 1e-12)


@pytest.mark.parametrize("name", METHODS)
def test_branches_are_scored_as_each_text_alone_with_every_method(name: str) -> None:
    model = train(plugins.method(name), BUILDS["gemma3-gqa"]).double()
    agrees(model, PROMPTS[:4], OPTIONS[:4], 1e-12)


@pytest.mark.parts
@pytest.mark.parametrize("shape", BUILDS)
@pytest.mark.parametrize("name", METHODS)
def test_branches_are_scored_as_each_text_alone_with_every_method_on_every_architecture(
    name: str, shape: str
) -> None:
    model = train(plugins.method(name), BUILDS[shape])
    agrees(model, PROMPTS, OPTIONS, 1e-5)
    if shape in IN_DOUBLE:
        agrees(model.double(), PROMPTS, OPTIONS, 1e-12)


tokens = st.integers(3, 6)
texts = st.lists(tokens, min_size=1, max_size=6)
offered = st.lists(texts, min_size=1, max_size=5)


@settings(deadline=None, max_examples=40)
@given(asked=st.lists(st.tuples(texts, offered), min_size=1, max_size=4))
def test_however_many_options_begin_alike_and_however_long_they_are(
    asked: list[tuple[list[int], list[list[int]]]],
) -> None:
    model = build("mistral-gqa").double()
    agrees(model, [prompt for prompt, _ in asked], [options for _, options in asked], 1e-12)


@given(options=offered)
def test_each_beginning_is_read_once_and_no_last_token_without_need(
    options: list[list[int]],
) -> None:
    read = Branches(options).read
    assert len(read) == len(set(read))
    assert set(read) == {tuple(one[:n]) for one in options for n in range(1, len(one))}


def test_branches_are_scored_as_full_texts_are_in_batches() -> None:
    model = build("gemma3-gqa")
    texts = [
        Example([*prompt, *option], len(prompt))
        for prompt, options in zip(PROMPTS, OPTIONS, strict=True)
        for option in options
    ]
    plain = {n: one for some in likelihoods(model, texts, PAD, 2048) for n, one in some.items()}
    found = [one for options in scored(model, PROMPTS, OPTIONS) for one in options]
    assert found == pytest.approx([-plain[n].answer for n in range(len(texts))], rel=1e-5)


@torch.inference_mode()
def test_what_was_read_stays_as_it_is() -> None:
    model = build("gemma3-gqa")
    (read,) = read_prompts(model, offering(PROMPTS[:3], OPTIONS[:3]), PAD)
    before = copy.deepcopy(read)
    score(model, read, PAD)
    assert torch.equal(read.logits, before.logits)
    for now, then in zip(read.cache.layers, before.cache.layers, strict=True):
        assert torch.equal(now.keys, then.keys)  # type: ignore[arg-type]
        assert torch.equal(now.values, then.values)  # type: ignore[arg-type]


def test_the_output_layer_runs_once_for_each_token_that_is_read_of_the_options() -> None:
    model: Any = build("llama-gqa")
    given: list[int] = []
    model.lm_head.register_forward_pre_hook(lambda _, inputs: given.append(inputs[0].shape[1]))
    scored(model, [[4, 5, 6, 7], [4, 5, 8, 9]], [[[7, 8, 9], [7, 8, 10]]] * 2)
    # The end of what both prompts begin with; the ends of both prompts; 7 and 8.
    assert given == [1, 1, 2]


def test_options_of_one_token_take_no_pass_of_their_own() -> None:
    model: Any = build("llama-gqa")
    passes: list[None] = []
    model.register_forward_pre_hook(lambda *_: passes.append(None))
    scored(model, [[4]], [[[7], [8], [9]]])
    assert len(passes) == 1


def test_an_option_of_no_token_is_certain() -> None:
    assert scored(build("llama-gqa"), [[4, 5]], [[[], [6]]])[0][0] == 0.0


def falcon() -> Any:
    return FalconForCausalLM(
        FalconConfig(num_hidden_layers=2, num_attention_heads=4, alibi=True, **SHAPE)
    )


def mpt() -> Any:
    return MptForCausalLM(MptConfig(vocab_size=VOCABULARY, d_model=32, n_layers=2, n_heads=4))


@pytest.mark.parametrize("builder", [bloom, falcon, mpt])
def test_models_that_count_distances_by_columns_take_no_branches(
    builder: Callable[[], Any],
) -> None:
    assert refusal(builder())


@pytest.mark.parametrize("name", BUILDS)
def test_the_models_of_the_checks_take_branches(name: str) -> None:
    assert refusal(build(name)) is None


@pytest.mark.parametrize("name", METHODS)
def test_no_method_keeps_a_model_from_taking_branches(name: str) -> None:
    assert refusal(train(plugins.method(name), BUILDS["llama-gqa"])) is None


def test_what_is_scored_is_left_out_and_changes_no_bit_of_the_rest() -> None:
    model, whole = build("llama-gqa"), offering(PROMPTS, OPTIONS)
    passes = list(read_and_score(model, whole, PAD))
    assert [len(one) for one in passes] == [10, 1]
    again = offering(PROMPTS, OPTIONS)
    for answer, known in zip(again, whole, strict=True):
        answer.scores = dict(known.scores) if known in passes[0] else {}
    assert [len(one) for one in read_and_score(model, again, PAD)] == [1]
    assert [one.scores for one in again] == [one.scores for one in whole]
