"""The loss: next-token cross-entropy in float32, summed over the tokens that count."""

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from harness.worker.encode import IGNORED, collate
from harness.worker.training.batches import Training

VALIDATION_BATCH = 8
"""Validation rows of one forward pass."""


@torch.no_grad()
def validation_loss(model: Any, training: Training) -> float:
    """Average the loss over the tokens of the validation rows."""
    model.eval()
    rows = sorted(training.validation, key=lambda example: len(example.ids))
    total = torch.zeros((), dtype=torch.float64)
    for start in range(0, len(rows), VALIDATION_BATCH):
        batch = rows[start : start + VALIDATION_BATCH]
        loss = token_loss(model, collate(batch, training.pad, training.loss))
        total = total.to(loss.device) + loss
    model.train()
    return float(total) / sum(example.scored(training.loss) for example in rows)


def token_loss(model: Any, batch: dict[str, Tensor]) -> Tensor:
    """Return the sum of the next-token losses in float32, on the device of the model."""
    device = next(model.parameters()).device
    labels = batch["labels"][:, 1:].to(device)
    inputs = {key: batch[key].to(device) for key in ("input_ids", "attention_mask")}
    logits = model(**inputs, use_cache=False).logits[:, :-1]
    return cross_entropy(
        logits.flatten(0, 1).float(), labels.flatten(), ignore_index=IGNORED, reduction="sum"
    )
