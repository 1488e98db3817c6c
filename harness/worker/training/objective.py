"""The loss: next-token cross-entropy in float32, summed over the tokens that count."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from harness.spec.recipe import VALIDATION_ROWS, VALIDATION_TOKENS
from harness.worker import cross_entropy
from harness.worker.encode import Example, collate
from harness.worker.training.batches import Training


@torch.no_grad()
def validation_loss(model: Any, training: Training) -> float:
    """Average the loss over the tokens of the validation rows; the ranks take batches in turns.

    All ranks have as many passes, as ZeRO-3 needs them: one that has run out repeats the last.
    """
    model.eval()
    rank, batches = training.rank, list(_batches(training.validation))
    total = torch.zeros((), dtype=torch.float64, device=next(model.parameters()).device)
    for first in range(0, len(batches), rank.of):
        own = first + rank.number
        batch = batches[min(own, len(batches) - 1)]
        loss = token_loss(model, collate(batch, training.pad, training.loss))
        total += loss if own < len(batches) else 0
    model.train()
    return float(rank.sum(total)) / sum(
        example.scored(training.loss) for example in training.validation
    )


def token_loss(model: Any, batch: Mapping[str, Any]) -> Tensor:
    """Return the sum of the next-token losses in float32, on the device of the model.

    Args:
        model: What is trained.
        batch: What `collate` or, where attention is row by row, `concatenate` returns.
    """
    device = next(model.parameters()).device
    inputs = {key: _on(device, value) for key, value in batch.items()}
    labels = inputs.pop("labels")
    logits = model(**inputs, use_cache=False).logits
    return cross_entropy.summed(logits, labels)


def _on(device: torch.device, value: Any) -> Any:
    """Send a tensor to the device; nobody waits for one that comes from pinned memory."""
    if not isinstance(value, Tensor):
        return value
    return (value.pin_memory() if device.type == "cuda" else value).to(device, non_blocking=True)


def _batches(examples: Sequence[Example]) -> Iterator[list[Example]]:
    """Put rows of like length together, the shortest first."""
    batch: list[Example] = []
    for example in sorted(examples, key=lambda one: len(one.ids)):
        full = len(batch) == VALIDATION_ROWS
        if batch and (full or (len(batch) + 1) * len(example.ids) > VALIDATION_TOKENS):
            yield batch
            batch = []
        batch.append(example)
    if batch:
        yield batch
