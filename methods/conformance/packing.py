"""The check of packed training: as the rows padded to a batch, in float64."""

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from methods.conformance.probes import PADDING, Build, prompts, train, trainable
from methods.contract import Method
from methods.training.packing import inputs, row_by_row

LENGTHS = (11, 4, 9)
"""Tokens of the rows; the window of the models that have one is 8."""

EXACT, IN_FLOAT32 = 1e-12, 1e-6
"""What may differ, relative to the largest number: in Gemma, norms and attention that soft-caps
compute in float32."""


def packed_equals_padded(method: Method, build: Build) -> None:
    """Rows in one sequence give the losses and gradients of the rows padded to a batch.

    What the adapter counts is the same too.
    """
    rows = [row[:length] for row, length in zip(prompts(3, 11), LENGTHS, strict=True)]
    padded = _learnt(method, build, *_padded(rows))
    packed = _learnt(method, build, *_packed(rows))
    assert packed.keys() == padded.keys(), f"no gradient for {padded.keys() - packed.keys()}"
    gemma = build().config.model_type.startswith("gemma")
    for name, value in padded.items():
        bound = (IN_FLOAT32 if gemma else EXACT) * max(1.0, float(value.abs().max()))
        off = float((packed[name] - value).abs().max())
        assert off <= bound, f"{name} is off by {off:.1e}: correct that, or say why by `unpacked`"


def _padded(rows: Sequence[Tensor]) -> tuple[dict[str, Any], Tensor]:
    """Return inputs and labels of a batch, (rows, longest)."""
    ids = nn.utils.rnn.pad_sequence(list(rows), batch_first=True, padding_value=PADDING)
    mask = torch.arange(ids.shape[1]) < torch.tensor([[len(row)] for row in rows])
    return {"input_ids": ids, "attention_mask": mask.long()}, ids.where(mask, -100)


def _packed(rows: Sequence[Tensor]) -> tuple[dict[str, Any], Tensor]:
    """Return inputs and labels of one sequence, (1, tokens)."""
    given = inputs([row.tolist() for row in rows])
    return given, given["input_ids"].where(given["position_ids"] > 0, -100)


def _learnt(
    method: Method, build: Build, given: dict[str, Any], labels: Tensor
) -> dict[str, Tensor]:
    """Return loss, auxiliary loss, gradients and buffers after a pass in float64, by name."""
    model = train(method, build).double().train()
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0  # the draws would differ
    with row_by_row(model) if "lengths" in given else nullcontext():
        logits = model(**given, use_cache=False).logits
        loss = cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
        auxiliary = method.auxiliary_loss(model) if method.auxiliary_loss else torch.zeros(())
        (loss + auxiliary).backward()
    found = {n: p.grad for n, p in trainable(model).items() if p.grad is not None}
    buffers = {name: buffer.double() for name, buffer in model.named_buffers()}
    return {"loss": loss.detach(), "auxiliary loss": auxiliary.detach(), **buffers, **found}
