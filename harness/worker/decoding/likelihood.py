"""How likely a model finds given answers: of options, and of references for perplexity."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from harness.worker import cross_entropy
from harness.worker.encode import Example, collate


@dataclass(frozen=True)
class Likelihood:
    """Negative log-likelihoods of a text in nats, and of how many tokens they are.

    Attributes:
        answer: Of the answer, given the prompt; its end token included if it has one.
        answer_tokens: How many.
        text: Of prompt and answer, from the second token on.
        text_tokens: How many.
    """

    answer: float
    answer_tokens: int
    text: float
    text_tokens: int


@torch.inference_mode()
def likelihoods(
    model: Any,
    examples: Sequence[Example],
    pad: int,
    batch_tokens: int,
    known: Collection[int] = (),
) -> Iterator[dict[int, Likelihood]]:
    """Score each text in one forward pass, several at a time; yield those of a pass by place.

    The passes are the same whatever is known: those all of whose texts are known are left out.

    Args:
        model: A causal language model.
        examples: Texts of at least one token.
        pad: The token on the right of shorter texts, hidden by the attention mask.
        batch_tokens: Tokens of one forward pass, padding included: the logits of a large
            vocabulary fill a GPU. A longer text is a batch of its own.
        known: Places of the texts that were scored before.
    """
    model.eval()
    order = sorted(range(len(examples)), key=lambda place: len(examples[place].ids))
    while order:
        longest = len(examples[order[-1]].ids)
        size = max(1, batch_tokens // longest)
        order, places = order[:-size], order[-size:]
        if not set(places) <= set(known):
            batch = [examples[place] for place in places]
            yield dict(zip(places, _batch(model, batch, pad), strict=True))


def _batch(model: Any, batch: Sequence[Example], pad: int) -> list[Likelihood]:
    device = next(model.parameters()).device
    collated = {key: value.to(device) for key, value in collate(batch, pad, "all").items()}
    labels = collated.pop("labels")
    losses = cross_entropy.of_each(model(**collated, use_cache=False).logits, labels).double()
    return [
        _of(losses[row, : len(example.ids) - 1].tolist(), example)
        for row, example in enumerate(batch)
    ]


def _of(losses: list[float], example: Example) -> Likelihood:
    answer = losses[max(0, example.prompt_tokens - 1) :]
    return Likelihood(sum(answer), len(answer), sum(losses), len(losses))
