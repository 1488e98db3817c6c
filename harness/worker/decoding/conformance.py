"""What must hold of every method for decoding by slots; beside the checks of `methods.conformance`.

It is here since methods know nothing of the harness.
"""

from typing import Any

import torch
from transformers import GenerationConfig

from harness.worker.decoding import slots
from harness.worker.decoding.decode import Answer
from methods.conformance.probes import PADDING, Build, prompts, train
from methods.contract import Method

SLOTS, TOKENS, START = 3, 9, 4
"""Fewer slots than prompts; the most tokens of an answer; tokens that all prompts begin with."""


def slots_change_no_token(method: Method, build: Build) -> None:
    """Answers are the same by slots and one prompt at a time, if slots take the model at all."""
    adapted = train(method, build)
    if slots.refusal(adapted):
        return
    start, *rest = prompts(8, 11).tolist()
    asked = [[*start[:START], *one[: 2 + number]] for number, one in enumerate(rest)]
    whole = [_alone(adapted, prompt) for prompt in asked]
    end = whole[0][3]
    adapted.generation_config.eos_token_id = end
    answers = [Answer(prompt, TOKENS - number % 3) for number, prompt in enumerate(asked)]
    list(slots.decode(adapted, [answers[:4], answers[4:]], SLOTS, PADDING))
    for answer, alone in zip(answers, whole, strict=True):
        expected = cut(alone[: answer.limit], end)
        assert answer.tokens == expected, (
            f"by slots it decodes to {answer.tokens}, one prompt at a time to {expected}"
        )


def cut(tokens: list[int], end: int) -> list[int]:
    """Cut an answer after its first end token."""
    return tokens[: tokens.index(end) + 1] if end in tokens else tokens


def _alone(model: Any, prompt: list[int]) -> list[int]:
    ids = torch.tensor([prompt])
    never = model.config.vocab_size
    config = GenerationConfig(
        max_new_tokens=TOKENS, do_sample=False, eos_token_id=never, pad_token_id=PADDING
    )
    output = model.generate(
        input_ids=ids, attention_mask=torch.ones_like(ids), generation_config=config
    )
    found: list[int] = output[0, len(prompt) :].tolist()
    return found
