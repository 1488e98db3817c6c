"""Log-likelihoods of the options of prompts that a model has just read.

The options of a prompt are branches of one sequence. What several of them begin with is in it once,
and no last token is in it: it is scored, and nothing follows.

    prompt   the  correct  answer  is   t  ru   | e      "the correct answer is true"
                                        f  al   | se     "the correct answer is false"

A mask lets each token see its prompt and its own branch, and positions go on from the end of the
prompt. So a prompt is read once, and the output layer runs only where an option is scored.
"""

import copy
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache

from harness.worker.decoding.decode import Answer
from harness.worker.decoding.reading import TOGETHER, Read, read_prompts
from harness.worker.decoding.slots import kinds

Tokens = tuple[int, ...]


class Branches:
    """The options of one prompt.

    Place 0 is the end of the prompt, which is read; the others are tokens to read, each behind that
    which it follows.

    Args:
        options: Token ids of each; an option may be the beginning of another one, or the same.
    """

    def __init__(self, options: Sequence[Sequence[int]]) -> None:
        self.options = [tuple(option) for option in options]
        begun = {option[:n] for option in self.options for n in range(1, len(option))}
        self.read = sorted(begun, key=lambda beginning: (len(beginning), beginning))

    @cached_property
    def places(self) -> dict[Tokens, int]:
        """Give the place behind which an option goes on, by what it has begun with."""
        return {beginning: place for place, beginning in enumerate([(), *self.read])}

    def scored(self) -> list[tuple[int, int]]:
        """List what is scored, option by option: a token, and the place that it comes after."""
        return [
            (self.places[option[:n]], token)
            for option in self.options
            for n, token in enumerate(option)
        ]

    def seen(self, size: int) -> Tensor:
        """Say which of the tokens to read each of them sees: (size, size), padding sees itself."""
        seen = torch.eye(size, dtype=torch.bool)
        for beginning in self.read:
            earlier = [self.places[beginning[:n]] - 1 for n in range(1, len(beginning))]
            seen[self.places[beginning] - 1, earlier] = True
        return seen


@torch.inference_mode()
def read_and_score(
    model: Any, answers: Sequence[Answer], pad: int, most: int = TOGETHER
) -> Iterator[Sequence[Answer]]:
    """Score the options of answers that have no scores, without writing any; yield each pass.

    Args:
        model: A causal language model that branches `fit`.
        answers: With their prompts and options.
        pad: A token in the place of none, hidden by masks.
        most: Prompts in one pass, as `read_prompts` takes it.
    """
    model.eval()
    for read in read_prompts(model, answers, pad, most, lambda answer: not answer.scored):
        score(model, read, pad)
        yield read.answers


@torch.inference_mode()
def score(model: Any, read: Read, pad: int) -> None:
    """Score the options at the end of prompts that were just read, as prompt and option in one.

    What was read stays as it is.

    Args:
        model: A causal language model that branches `fit`.
        read: The prompts, whose answers take the scores of their options.
        pad: A token in the place of none, hidden by masks.
    """
    if not any(answer.options for answer in read.answers):
        return
    branched = [Branches(list(answer.options.values())) for answer in read.answers]
    logits = read.logits[:, None]
    if any(one.read for one in branched):
        logits = torch.cat([logits, _read_on(model, read, branched, pad)], dim=1)
    losses = iter(_losses(logits, branched))
    for answer in read.answers:
        answer.scores = {
            name: -sum(next(losses) for _ in option) for name, option in answer.options.items()
        }


def _losses(logits: Tensor, branched: Sequence[Branches]) -> list[float]:
    """Take the losses of all that is scored from logits (prompts, places, vocabulary)."""
    scored = [(row, *one) for row, of in enumerate(branched) for one in of.scored()]
    rows, places, tokens = (
        torch.tensor(scored, dtype=torch.long, device=logits.device).view(-1, 3).unbind(1)
    )
    exact = logits.to(torch.promote_types(logits.dtype, torch.float32))
    losses: list[float] = (exact.logsumexp(-1)[rows, places] - exact[rows, places, tokens]).tolist()
    return losses


def _read_on(model: Any, read: Read, branched: Sequence[Branches], pad: int) -> Tensor:
    """Read all branches in one pass: logits (prompts, tokens, vocabulary)."""
    size, device = max(len(one.read) for one in branched), model.device
    last, length = [[pad] * size for _ in branched], [[1] * size for _ in branched]
    for row, one in enumerate(branched):
        last[row][: len(one.read)] = [beginning[-1] for beginning in one.read]
        length[row][: len(one.read)] = [len(beginning) for beginning in one.read]
    prompts = torch.tensor(read.lengths, device=device)[:, None]
    positions = prompts + torch.tensor(length, device=device) - 1
    seen = torch.stack([one.seen(size) for one in branched]).to(device)
    output = model(
        input_ids=torch.tensor(last, device=device),
        position_ids=positions,
        attention_mask=_masks(model, prompts, positions, seen, read.cache.get_seq_length()),
        past_key_values=_beside(read.cache),
        use_cache=True,
    )
    logits: Tensor = output.logits
    return logits


def _masks(model: Any, prompts: Tensor, positions: Tensor, seen: Tensor, columns: int) -> Any:
    """Say what is added to the attention of the branches, in each kind of layer.

    Args:
        model: Says which kinds there are, and how many tokens a token sees there.
        prompts: Tokens of each prompt: (prompts, 1).
        positions: Of the tokens to read: (prompts, tokens).
        seen: Which of them each of them sees: (prompts, tokens, tokens).
        columns: Of the cache; a token's column is its position, and padding follows.
    """
    place = torch.arange(columns, device=prompts.device).expand(len(prompts), -1)
    cached = (place < prompts)[:, None].expand(-1, seen.shape[1], -1)
    visible = torch.cat([cached, seen], dim=2)
    distance = positions[:, :, None] - torch.cat([place, positions], dim=1)[:, None]
    masks = {
        kind: _added(visible if window is None else visible & (distance < window), model.dtype)
        for kind, window in dict(kinds(model)).items()
    }
    return masks if len(masks) > 1 else next(iter(masks.values()))


def _added(visible: Tensor, dtype: torch.dtype) -> Tensor:
    """Add nothing to what is visible, and to the rest so much that nothing is left."""
    added = torch.zeros(visible.shape, dtype=dtype, device=visible.device)
    return added.masked_fill(~visible, torch.finfo(dtype).min)[:, None]


def _beside(cache: DynamicCache) -> DynamicCache:
    """Make a cache that goes on from another one, whose layers it leaves as they are."""
    beside = copy.copy(cache)
    beside.layers = [copy.copy(layer) for layer in cache.layers]
    return beside
