"""Likelihoods against the loss that transformers computes for one text at a time."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch

from harness.worker.decoding.likelihood import Likelihood, likelihoods
from harness.worker.encode import IGNORED, Example
from methods.conformance.models import VOCABULARY, build

PAD = 0
TOKENS = 2048


def weighed(model: Any, texts: Sequence[Example], tokens: int) -> list[Likelihood]:
    found = {n: one for batch in likelihoods(model, texts, PAD, tokens) for n, one in batch.items()}
    return [found[place] for place in range(len(texts))]


@pytest.fixture(scope="module")
def model() -> Any:
    torch.manual_seed(0)
    return build("llama-gqa").eval()


@pytest.fixture(scope="module")
def texts() -> list[Example]:
    """Draw 17 texts of 3 to 40 tokens, of which 1 to all but one are the prompt."""
    generator = torch.Generator().manual_seed(3)

    def draw(low: int, high: int) -> int:
        return int(torch.randint(low, high, (), generator=generator))

    lengths = [draw(3, 41) for _ in range(17)]
    ids = [torch.randint(3, VOCABULARY, (n,), generator=generator).tolist() for n in lengths]
    return [Example(one, draw(1, len(one))) for one in ids]


@torch.no_grad()
def alone(model: Any, text: Example, first: int) -> float:
    """Sum transformers' own loss over the tokens from `first` on."""
    ids = torch.tensor([text.ids])
    labels = ids.clone()
    labels[:, :first] = IGNORED
    return float(model(input_ids=ids, labels=labels).loss) * (len(text.ids) - first)


@pytest.mark.parametrize("tokens", [1, 60, 100_000])
def test_likelihoods_are_the_losses_of_transformers_text_by_text_in_any_batch(
    tokens: int, model: Any, texts: list[Example]
) -> None:
    found = weighed(model, texts, tokens)
    expected = [(alone(model, one, one.prompt_tokens), alone(model, one, 1)) for one in texts]
    for one, (answer, text) in zip(found, expected, strict=True):
        assert (one.answer, one.text) == pytest.approx((answer, text), rel=1e-5)


def test_the_tokens_are_those_of_the_answer_and_all_but_the_first(
    model: Any, texts: list[Example]
) -> None:
    found = weighed(model, texts, TOKENS)
    assert [(one.answer_tokens, one.text_tokens) for one in found] == [
        (len(text.ids) - text.prompt_tokens, len(text.ids) - 1) for text in texts
    ]


def test_a_text_without_a_prompt_is_scored_from_its_second_token_on(model: Any) -> None:
    (one,) = weighed(model, [Example([5, 6, 7], prompt_tokens=0)], TOKENS)
    assert one == Likelihood(one.text, 2, one.text, 2)


def test_the_order_of_the_texts_is_kept(model: Any, texts: list[Example]) -> None:
    forward, backward = (
        weighed(model, texts, TOKENS),
        weighed(model, texts[::-1], TOKENS),
    )
    assert [one.answer for one in backward[::-1]] == pytest.approx([one.answer for one in forward])
    assert len({round(one.text, 3) for one in forward}) == len(texts)


def test_no_texts_have_no_likelihoods(model: Any) -> None:
    assert weighed(model, [], TOKENS) == []


def test_dropout_is_off(texts: list[Example]) -> None:
    torch.manual_seed(0)
    model = build("llama-gqa")
    model.config.attention_dropout = 0.5
    for layer in model.model.layers:
        layer.self_attn.attention_dropout = 0.5
    model.train()
    assert weighed(model, texts, TOKENS) == weighed(model, texts, TOKENS)


def test_what_is_known_is_left_out_and_changes_no_bit_of_the_rest(
    model: Any, texts: list[Example]
) -> None:
    batches = list(likelihoods(model, texts, PAD, 60))
    assert len(batches) > 3
    first, torn, *rest = batches
    some = list(torn)[: len(torn) // 2]
    assert list(likelihoods(model, texts, PAD, 60, known=[*first, *some])) == [torn, *rest]
    assert not list(likelihoods(model, texts, PAD, 60, known=range(len(texts))))
