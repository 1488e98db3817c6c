"""Turning rows into tokens, for training and for generation, by one rule."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from harness.spec.protocol import Protocol
from methods.training.packing import inputs
from tasks.contract import Row

IGNORED = -100
"""The label that the loss leaves out."""


@dataclass(frozen=True)
class Example:
    """A training row in tokens: prompt, answer, end token."""

    ids: list[int]
    prompt_tokens: int

    def scored(self, loss: Literal["all", "answer"]) -> int:
        """Count the tokens that the loss is over; the first of a text is never predicted."""
        return len(self.ids) - max(1, self.prompt_tokens if loss == "answer" else 0)


def prompts(
    rows: Sequence[Row],
    tokenizer: PreTrainedTokenizerBase,
    protocol: Protocol,
    shots: Sequence[Row] = (),
) -> list[str]:
    """Write the prompts of evaluation as the model sees them; `shots` stand solved before each."""
    solved = protocol.solved(shots)
    if protocol.chat:
        chats = (protocol.messages(protocol.ask(row), solved) for row in rows)
        return [_rendered(chat, tokenizer) for chat in chats]
    return [protocol.text(protocol.ask(row), solved) for row in rows]


def prompt_ids(
    rows: Sequence[Row],
    tokenizer: PreTrainedTokenizerBase,
    protocol: Protocol,
    shots: Sequence[Row] = (),
) -> list[list[int]]:
    """Encode the prompts of evaluation."""
    return _open(prompts(rows, tokenizer, protocol, shots), tokenizer, protocol)


def examples(
    rows: Sequence[Row],
    tokenizer: PreTrainedTokenizerBase,
    protocol: Protocol,
    max_length: int,
) -> tuple[list[Example], dict[str, int]]:
    """Encode training rows; count those that were cut and those dropped for want of an answer.

    Args:
        rows: With an output each.
        tokenizer: Of the backbone.
        protocol: Says how prompt and output are joined.
        max_length: Tokens of a row, its end token included.
    """
    taught = encoded(rows, tokenizer, protocol)
    kept = [one for one in taught if one.prompt_tokens < max_length]
    found = [Example(one.ids[:max_length], one.prompt_tokens) for one in kept]
    cut = sum(len(one.ids) > max_length for one in kept)
    return found, {"rows": len(found), "cut": cut, "dropped": len(taught) - len(kept)}


def encoded(
    rows: Sequence[Row], tokenizer: PreTrainedTokenizerBase, protocol: Protocol
) -> list[Example]:
    """Encode rows with their outputs, uncut."""
    pairs = [_taught(row, tokenizer, protocol) for row in rows]
    starts = _open([prompt for prompt, _ in pairs], tokenizer, protocol)
    if protocol.joint:
        texts = _open([prompt + output for prompt, output in pairs], tokenizer, protocol)
    else:
        answers: list[list[int]] = tokenizer(
            [output for _, output in pairs], add_special_tokens=False
        )["input_ids"]
        texts = [[*prompt, *answer] for prompt, answer in zip(starts, answers, strict=True)]
    end = tokenizer.eos_token_id
    return [Example([*text, end], len(prompt)) for text, prompt in zip(texts, starts, strict=True)]


def _taught(row: Row, tokenizer: PreTrainedTokenizerBase, protocol: Protocol) -> tuple[str, str]:
    """Write prompt and output of training as the model sees them."""
    prompt, output = protocol.teach(row)
    if protocol.chat:
        prompt = _rendered(protocol.messages(prompt), tokenizer)
    return prompt, output


def _rendered(messages: list[dict[str, str]], tokenizer: PreTrainedTokenizerBase) -> str:
    """Write messages by the chat template of the tokenizer, up to where its answer begins."""
    if tokenizer.chat_template is None:
        raise ValueError("the tokenizer of the backbone has no chat template")
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    assert isinstance(text, str)
    return text


def _open(
    texts: list[str], tokenizer: PreTrainedTokenizerBase, protocol: Protocol
) -> list[list[int]]:
    """Encode texts with the start token that the tokenizer itself puts, and no end token."""
    if not texts:
        return []
    # A chat template writes all special tokens itself.
    ids: list[list[int]] = tokenizer(texts, add_special_tokens=not protocol.chat)["input_ids"]
    if protocol.chat:
        return ids
    end = tokenizer.eos_token_id
    # Some tokenizers close every text; a prompt is not closed.
    return [one[:-1] if one and one[-1] == end else one for one in ids]


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


def concatenate(batch: Sequence[Example], loss: Literal["all", "answer"]) -> dict[str, Any]:
    """Put rows into one sequence, of shape (1, tokens); a row's first token is never predicted."""
    given = inputs([example.ids for example in batch])
    firsts = [example.prompt_tokens if loss == "answer" else 1 for example in batch]
    first = torch.tensor(firsts).clamp(min=1).repeat_interleave(torch.tensor(given["lengths"]))
    ids = given["input_ids"]
    return {**given, "labels": ids.where(given["position_ids"] >= first, IGNORED)}


def pad_token(tokenizer: PreTrainedTokenizerBase) -> int:
    """Return the padding token; the end token where there is none, which the mask hides."""
    pad = tokenizer.pad_token_id
    return int(tokenizer.eos_token_id if pad is None else pad)
