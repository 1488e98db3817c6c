"""The loss: next-token cross-entropy in float32, summed over the tokens that count."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from harness.spec.recipe import VALIDATION_ROWS, VALIDATION_TOKENS
from harness.worker import cross_entropy
from harness.worker.encode import Example, collate
from harness.worker.training.batches import Training


@torch.no_grad()
def validation_loss(model: Any, training: Training) -> float:
    """Average the loss over the tokens of the validation rows."""
    model.eval()
    total = torch.zeros((), dtype=torch.float64)
    for batch in _batches(training.validation):
        loss = token_loss(model, collate(batch, training.pad, training.loss))
        total = total.to(loss.device) + loss
    model.train()
    return float(total) / sum(example.scored(training.loss) for example in training.validation)


def token_loss(model: Any, batch: dict[str, Tensor]) -> Tensor:
    """Return the sum of the next-token losses in float32, on the device of the model."""
    device = next(model.parameters()).device
    labels = batch["labels"].to(device)
    inputs = {key: batch[key].to(device) for key in ("input_ids", "attention_mask")}
    logits = model(**inputs, use_cache=False).logits
    return cross_entropy.summed(logits, labels)


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
