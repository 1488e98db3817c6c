"""Turning rows into tokens, for training and for generation, by one rule."""

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import torch
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from harness.spec.protocol import Protocol
from harness.worker.kept import kept
from methods.training.packing import inputs
from tasks.contract import Row

IGNORED = -100
"""The label that the loss leaves out."""

PIECE = 512
"""Rows that are encoded at a time."""

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Example:
    """A training row in tokens: prompt, answer, end token; encoded rows have ids of four bytes."""

    ids: Sequence[int]
    prompt_tokens: int

    def scored(self, loss: Literal["all", "answer"]) -> int:
        """Count the tokens that the loss is over; the first of a text is never predicted."""
        return len(self.ids) - max(1, self.prompt_tokens if loss == "answer" else 0)


@kept(24)
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
    return [ids.tolist() for ids in _prompt_ids(rows, tokenizer, protocol, shots)]


@kept(24)
def _prompt_ids(
    rows: Sequence[Row],
    tokenizer: PreTrainedTokenizerBase,
    protocol: Protocol,
    shots: Sequence[Row],
) -> "list[array[int]]":
    texts = prompts(rows, tokenizer, protocol, shots)
    return [array("i", ids) for few in _pieces(texts) for ids in _open(few, tokenizer, protocol)]


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
    whole = [one for one in taught if one.prompt_tokens < max_length]
    found = [_cut(one, max_length) for one in whole]
    cut = sum(len(one.ids) > max_length for one in whole)
    return found, {"rows": len(found), "cut": cut, "dropped": len(taught) - len(whole)}


def _cut(one: Example, max_length: int) -> Example:
    return one if len(one.ids) <= max_length else replace(one, ids=one.ids[:max_length])


@kept(8)
def encoded(
    rows: Sequence[Row], tokenizer: PreTrainedTokenizerBase, protocol: Protocol
) -> list[Example]:
    """Encode rows with their outputs, uncut."""
    return [one for few in _pieces(rows) for one in _encoded(few, tokenizer, protocol)]


def _encoded(
    rows: Sequence[Row], tokenizer: PreTrainedTokenizerBase, protocol: Protocol
) -> Iterator[Example]:
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
    for text, prompt in zip(texts, starts, strict=True):
        yield Example(array("i", [*text, end]), len(prompt))


def _pieces(whole: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """Cut what is to be encoded: a token takes 36 bytes until its row is packed into an array."""
    return (whole[start : start + PIECE] for start in range(0, len(whole), PIECE))


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
    texts: Sequence[str], tokenizer: PreTrainedTokenizerBase, protocol: Protocol
) -> list[list[int]]:
    """Encode texts with the start token that the tokenizer itself puts, and no end token."""
    # A chat template writes all special tokens itself.
    ids: list[list[int]] = tokenizer(list(texts), add_special_tokens=not protocol.chat)["input_ids"]
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
