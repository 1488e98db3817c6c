"""Reading the prompts of a list, several in one pass; what all of them begin with is read once."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache

from harness.worker.decoding.decode import Answer
from harness.worker.decoding.rows import Source
from methods.tuners import prefix

TOGETHER = 10
"""The most prompts that are read in one pass."""


@dataclass(frozen=True)
class Read:
    """Prompts that one pass has read.

    Attributes:
        answers: To them, with no token yet.
        lengths: Tokens of each prompt.
        cache: Keys and values of each prompt in its first columns; padding follows.
        logits: After the last token of each prompt: (prompts, vocabulary).
    """

    answers: Sequence[Answer]
    lengths: list[int]
    cache: DynamicCache
    logits: Tensor

    def sources(self) -> list[Source]:
        """Say where each prompt is in the cache."""
        return [Source(self.cache, row, length) for row, length in enumerate(self.lengths)]


def read_prompts(
    model: Any,
    answers: Sequence[Answer],
    pad: int,
    most: int = TOGETHER,
    wanted: Callable[[Answer], bool] = lambda _: True,
) -> Iterator[Read]:
    """Read the prompts of a list, longest first, at most `most` in one pass.

    The passes are the same whatever is wanted; those of no answer that is are left out.
    """
    size = min(TOGETHER, most)
    longest_first = sorted(answers, key=lambda answer: len(answer.prompt), reverse=True)
    batches = [longest_first[first : first + size] for first in range(0, len(answers), size)]
    batches = [batch for batch in batches if any(map(wanted, batch))]
    if not batches:
        return
    shared = _shared([answer.prompt for answer in answers])
    start = DynamicCache()
    if shared:
        ids = torch.tensor([shared], device=model.device)
        model(input_ids=ids, past_key_values=start, use_cache=True, logits_to_keep=1)
    for batch in batches:
        yield _read_on(model, batch, start, len(shared), pad)


def _shared(prompts: Sequence[list[int]]) -> list[int]:
    """Return what all prompts begin with, short of the last token of each."""
    first, last = min(prompts), max(prompts)
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False))
    return [token for token, _ in same][: min(map(len, prompts)) - 1]


def _read_on(
    model: Any, batch: Sequence[Answer], start: DynamicCache, shared: int, pad: int
) -> Read:
    """Read prompts whose first `shared` tokens are in `start`."""
    lengths = [len(answer.prompt) for answer in batch]
    ids = torch.full((len(batch), max(lengths) - shared), pad)
    mask = torch.zeros(len(batch), max(lengths), dtype=torch.long)
    for row, answer in enumerate(batch):
        ids[row, : lengths[row] - shared] = torch.tensor(answer.prompt[shared:])
        mask[row, : lengths[row]] = 1
    cache, lasts = _copies(start, len(batch)), sorted(set(lengths))
    output = model(
        input_ids=ids.to(model.device),
        attention_mask=mask.to(model.device),
        past_key_values=cache,
        use_cache=True,
        logits_to_keep=torch.tensor(lasts, device=model.device) - shared - 1,
    )
    last = [lasts.index(length) for length in lengths]
    return Read(batch, lengths, cache, output.logits[range(len(batch)), last])


def _copies(start: DynamicCache, rows: int) -> DynamicCache:
    """Copy what one sequence has read for several rows."""
    if not start.layers:
        return DynamicCache()
    layers: list[Any] = list(start.layers)
    cache = DynamicCache(
        [
            (layer.keys.expand(rows, -1, -1, -1), layer.values.expand(rows, -1, -1, -1))
            for layer in layers
        ]
    )
    prefix.carry(cache, [(start, 0)] * rows)
    return cache
