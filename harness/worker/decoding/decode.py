"""Decoding in batches, by a plan that is part of the spec."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from transformers import GenerationConfig

from harness.spec.protocol import Protocol
from harness.spec.recipe import BatchPlan


@dataclass
class Answer:
    """What is asked of a model at the end of a prompt, and what has come of it so far.

    Attributes:
        prompt: Token ids.
        limit: The most tokens of the answer.
        options: Token ids of what is scored there, by what each states.
        tokens: Of the answer, its end token included if it has one.
        ended: Whether it has one.
        scores: The log-likelihood of each option in nats.
    """

    prompt: list[int]
    limit: int = 0
    options: Mapping[str, list[int]] = field(default_factory=dict)
    tokens: list[int] = field(default_factory=list)
    ended: bool = False
    scores: dict[str, float] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        """Whether there is nothing more to write."""
        return self.ended or len(self.tokens) >= self.limit

    def add(self, new: list[int], ends: Sequence[int]) -> None:
        """Add what the model has written, up to its first end token."""
        length = next((n for n, token in enumerate(new, 1) if token in ends), None)
        self.ended = length is not None
        self.tokens += new[:length]


@torch.inference_mode()
def generate(
    model: Any,
    prompts: Sequence[list[int]],
    plan: BatchPlan,
    protocol: Protocol,
    pad: int,
    progress: Callable[[int, int], None],
) -> list[Answer]:
    """Decode by the rule of a protocol, in the order of `prompts`.

    In rounds of `plan.round_tokens`: after each, answers that have ended leave and the others
    form new batches, longest first. In float32 the tokens are those of decoding one by one.

    Args:
        model: A causal language model with `generate`.
        prompts: Token ids.
        plan: Batch size and length of a round.
        protocol: Says where an answer is cut, and how many beams there are; with more than one an
            answer is one round, since beams cannot be taken up again.
        pad: The token on the left of shorter prompts, hidden by the attention mask.
        progress: Called after each batch with answers done and answers in all.
    """
    model.eval()
    longest = protocol.max_new_tokens
    answers = [Answer(list(prompt), longest) for prompt in prompts]
    round_tokens = plan.round_tokens if protocol.beams == 1 else longest
    for written in range(0, longest, round_tokens):
        room = min(round_tokens, longest - written)
        unfinished = [answer for answer in answers if not answer.ended]
        for batch in _batches(unfinished, plan.batch_size):
            _extend(model, batch, room, protocol.beams, pad)
            progress(sum(answer.ended for answer in answers), len(answers))
    return answers


def end_tokens(model: Any) -> list[int]:
    """List the tokens that end an answer, of which some models have several."""
    ends = model.generation_config.eos_token_id
    return list(ends) if isinstance(ends, list) else [ends]


def _batches(answers: list[Answer], size: int) -> Iterator[list[Answer]]:
    longest_first = sorted(answers, key=lambda a: len(a.prompt) + len(a.tokens), reverse=True)
    for start in range(0, len(longest_first), size):
        yield longest_first[start : start + size]


def _extend(model: Any, batch: list[Answer], room: int, beams: int, pad: int) -> None:
    ids, mask = _left_padded([answer.prompt + answer.tokens for answer in batch], pad)
    ends = end_tokens(model)
    config = GenerationConfig(
        max_new_tokens=room, do_sample=False, num_beams=beams, pad_token_id=pad, eos_token_id=ends
    )
    output = model.generate(
        input_ids=ids.to(model.device),
        attention_mask=mask.to(model.device),
        generation_config=config,
    )
    for answer, new in zip(batch, output[:, ids.shape[1] :].tolist(), strict=True):
        answer.add(new, ends)


def _left_padded(sequences: list[list[int]], pad: int) -> tuple[Tensor, Tensor]:
    longest = max(len(sequence) for sequence in sequences)
    ids = torch.full((len(sequences), longest), pad)
    mask = torch.zeros_like(ids)
    for row, sequence in enumerate(sequences):
        ids[row, longest - len(sequence) :] = torch.tensor(sequence)
        mask[row, longest - len(sequence) :] = 1
    return ids, mask
