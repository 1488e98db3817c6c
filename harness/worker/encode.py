"""Turning rows into tokens, for training and for generation, by one rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from harness.protocol import Protocol
from tasks.base import Row

IGNORED = -100
"""The label that the loss leaves out."""


@dataclass(frozen=True)
class Example:
    """A training row in tokens: prompt, answer, end token."""

    ids: list[int]
    prompt_tokens: int


def prompt_ids(
    rows: Sequence[Row], tokenizer: PreTrainedTokenizerBase, protocol: Protocol
) -> list[list[int]]:
    """Encode prompts with the start token that the tokenizer itself puts, if it puts one."""
    ids: list[list[int]] = tokenizer([protocol.prompt(row.instruction) for row in rows])[
        "input_ids"
    ]
    end = tokenizer.eos_token_id
    # Some tokenizers close every text; a prompt is not closed.
    return [one[:-1] if one and one[-1] == end else one for one in ids]


def examples(
    rows: Sequence[Row],
    tokenizer: PreTrainedTokenizerBase,
    protocol: Protocol,
    max_length: int,
) -> tuple[list[Example], dict[str, int]]:
    """Encode training rows; count those that were cut and those dropped for want of an answer.

    Prompt and answer are encoded apart, so that training sees the prompt's very tokens that
    generation starts from.
    """
    prompts = prompt_ids(rows, tokenizer, protocol)
    answers: list[list[int]] = tokenizer(
        [row.output.strip() for row in rows], add_special_tokens=False
    )["input_ids"]
    found, cut, dropped = [], 0, 0
    for prompt, answer in zip(prompts, answers, strict=True):
        ids = [*prompt, *answer, tokenizer.eos_token_id]
        if len(prompt) >= max_length:
            dropped += 1
            continue
        cut += len(ids) > max_length
        found.append(Example(ids[:max_length], len(prompt)))
    return found, {"rows": len(found), "cut": cut, "dropped": dropped}


def collate(
    batch: Sequence[Example], pad: int, loss: Literal["all", "answer"]
) -> dict[str, Tensor]:
    """Pad on the right to tensors of shape (rows, longest)."""
    longest = max(len(example.ids) for example in batch)
    ids = torch.full((len(batch), longest), pad)
    mask = torch.zeros_like(ids)
    labels = torch.full_like(ids, IGNORED)
    for row, example in enumerate(batch):
        length = len(example.ids)
        first = example.prompt_tokens if loss == "answer" else 0
        ids[row, :length] = torch.tensor(example.ids)
        mask[row, :length] = 1
        labels[row, first:length] = ids[row, first:length]
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def pad_token(tokenizer: PreTrainedTokenizerBase) -> int:
    """Return the padding token; the end token where there is none, which the mask hides."""
    pad = tokenizer.pad_token_id
    return int(tokenizer.eos_token_id if pad is None else pad)
