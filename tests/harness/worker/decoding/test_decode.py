from typing import Any

import pytest
import torch
from transformers import GenerationConfig

from harness.protocols import paper
from harness.spec.protocol import Protocol
from harness.spec.recipe import BatchPlan
from harness.worker.decoding.decode import Answer, generate
from methods.conformance.models import VOCABULARY, build

PAD, END = 0, 50
LIMIT = 24
GREEDY = paper.protocol.model_copy(update={"max_new_tokens": LIMIT})
BEAMS = GREEDY.model_copy(update={"beams": 4, "max_new_tokens": 12})


@pytest.fixture(scope="module")
def model() -> Any:
    """Give a model that ends some answers early and others never.

    Its end token is one that greedy decoding of some prompts writes, and of others does not.
    """
    model = build("llama-gqa")
    model.generation_config.eos_token_id = END
    return model


@pytest.fixture(scope="module")
def prompts() -> list[list[int]]:
    generator = torch.Generator().manual_seed(5)
    lengths = torch.randint(2, 12, (13,), generator=generator).tolist()
    return [torch.randint(3, VOCABULARY, (n,), generator=generator).tolist() for n in lengths]


def answers(
    model: Any, prompts: list[list[int]], plan: BatchPlan, protocol: Protocol = GREEDY
) -> list[Answer]:
    found = [Answer(prompt, protocol.max_new_tokens) for prompt in prompts]
    list(generate(model, found, plan, protocol, PAD))
    return found


def alone(model: Any, prompt: list[int], protocol: Protocol = GREEDY) -> list[int]:
    """Decode one prompt by transformers alone: no batch, no padding, no rounds."""
    ids = torch.tensor([prompt])
    config = GenerationConfig(
        max_new_tokens=protocol.max_new_tokens,
        do_sample=False,
        num_beams=protocol.beams,
        eos_token_id=END,
        pad_token_id=PAD,
    )
    output = model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=config)
    found: list[int] = output[0, len(prompt) :].tolist()
    return found


@pytest.mark.parametrize("batch_size", [1, 4, 13])
@pytest.mark.parametrize("round_tokens", [1, 5, 24, 64])
def test_the_batch_plan_changes_no_token_in_float32(
    batch_size: int, round_tokens: int, model: Any, prompts: list[list[int]]
) -> None:
    plan = BatchPlan(batch_size=batch_size, round_tokens=round_tokens)
    found = [answer.tokens for answer in answers(model, prompts, plan)]
    assert found == [alone(model, prompt) for prompt in prompts]


def test_with_four_beams_the_answers_are_those_of_transformers_one_prompt_at_a_time(
    model: Any, prompts: list[list[int]]
) -> None:
    # A round shorter than an answer would take a beam up again, which is another search.
    plan = BatchPlan(batch_size=3, round_tokens=3)
    found = [answer.tokens for answer in answers(model, prompts[:7], plan, BEAMS)]
    expected = [alone(model, prompt, BEAMS) for prompt in prompts[:7]]
    assert found == expected
    assert expected != [answer.tokens[:12] for answer in answers(model, prompts[:7], plan)]


def test_an_answer_ends_with_its_end_token_or_is_cut_at_the_limit(
    model: Any, prompts: list[list[int]]
) -> None:
    found = answers(model, prompts, BatchPlan(batch_size=4, round_tokens=7))
    ended = [answer for answer in found if answer.ended]
    cut = [answer for answer in found if not answer.ended]
    assert ended, "the model ends no answer, so nothing is shown"
    assert cut, "the model ends every answer, so nothing is shown"
    assert all(a.tokens[-1] == END and END not in a.tokens[:-1] for a in ended)
    assert all(len(a.tokens) == LIMIT and END not in a.tokens for a in cut)


def test_sampling_settings_of_the_model_are_not_followed(
    model: Any, prompts: list[list[int]]
) -> None:
    plan = BatchPlan()
    greedy = [answer.tokens for answer in answers(model, prompts, plan)]
    model.generation_config.update(do_sample=True, temperature=5.0)
    try:
        torch.manual_seed(0)
        assert [answer.tokens for answer in answers(model, prompts, plan)] == greedy
    finally:
        model.generation_config.update(do_sample=False, temperature=None)
