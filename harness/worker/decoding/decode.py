"""Decoding in batches, by a plan that is part of the spec."""

from collections.abc import Iterator, Mapping, Sequence
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
        benchmark: That asks, by name.
        id: Of the row of the benchmark.
        tokens: Of the answer, its end token included if it has one.
        ended: Whether it has one.
        scores: The log-likelihood of each option in nats.
    """

    prompt: list[int]
    limit: int = 0
    options: Mapping[str, list[int]] = field(default_factory=dict)
    benchmark: str = ""
    id: int = 0
    tokens: list[int] = field(default_factory=list)
    ended: bool = False
    scores: dict[str, float] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        """Whether there is nothing more to write."""
        return self.ended or len(self.tokens) >= self.limit

    @property
    def scored(self) -> bool:
        """Whether there are scores of all options."""
        return len(self.scores) == len(self.options)

    def add(self, new: list[int], ends: Sequence[int]) -> None:
        """Add what the model has written, up to its first end token."""
        length = next((n for n, token in enumerate(new, 1) if token in ends), None)
        self.ended = length is not None
        self.tokens += new[:length]


@torch.inference_mode()
def generate(
    model: Any, answers: Sequence[Answer], plan: BatchPlan, protocol: Protocol, pad: int
) -> Iterator[Sequence[Answer]]:
    """Decode by the rule of a protocol; yield the answers of a batch after each of its rounds.

    In rounds of `plan.round_tokens`: after each, answers that have ended leave and the others
    form new batches, longest first. In float32 the tokens are those of decoding one by one.
    Answers may be some rounds ahead of others, where an earlier attempt stopped; the batches are
    those of an attempt that does not stop.

    Args:
        model: A causal language model with `generate`.
        answers: With the tokens of whole rounds.
        plan: Batch size and length of a round.
        protocol: Says where an answer is cut, and how many beams there are; with more than one an
            answer is one round, since beams cannot be taken up again.
        pad: The token on the left of shorter prompts, hidden by the attention mask.
    """
    model.eval()
    longest = protocol.max_new_tokens
    round_tokens = plan.round_tokens if protocol.beams == 1 else longest
    for written in range(0, longest, round_tokens):
        room = min(round_tokens, longest - written)
        taken = [answer for answer in answers if len(answer.tokens) > written or not answer.ended]
        for batch in _batches(taken, plan.batch_size):
            if late := [answer for answer in batch if len(answer.tokens) <= written]:
                _extend(model, late, room, protocol.beams, pad)
                yield late


def end_tokens(model: Any) -> list[int]:
    """List the tokens that end an answer, of which some models have several."""
    ends = model.generation_config.eos_token_id
    return list(ends) if isinstance(ends, list) else [ends]


def _batches(answers: list[Answer], size: int) -> Iterator[list[Answer]]:
    # All have written as much.
    longest_first = sorted(answers, key=lambda answer: len(answer.prompt), reverse=True)
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
