"""Next-token cross-entropy in float32, which takes large logits in pieces.

In one piece, float32 logits, their softmax and their gradient would take 12 bytes for each token
and word of the vocabulary: 3.7 GB at 2,048 tokens and 152,000 words.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, pad

from harness.worker.encode import IGNORED

PIECE = 1 << 25
"""Logits of a piece: 128 MiB in float32."""


def summed(logits: Tensor, labels: Tensor) -> Tensor:
    """Sum the losses of all tokens that count.

    Logits of more than one piece are as exact as in one, to rounding.

    Args:
        logits: Of shape (rows, tokens, vocabulary), in any precision.
        labels: Of shape (rows, tokens): the tokens themselves, or `IGNORED`.

    Returns:
        Their sum in nats, a float32 scalar.
    """
    if logits.numel() > PIECE:
        total: Tensor = _Summed.apply(  # type: ignore[no-untyped-call]
            logits.flatten(0, 1), _next(labels).flatten()
        )
        return total
    return cross_entropy(
        logits[:, :-1].flatten(0, 1).float(),
        labels[:, 1:].flatten(),
        ignore_index=IGNORED,
        reduction="sum",
    )


@torch.no_grad()
def of_each(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the loss of each token from the second on, of shape (rows, tokens - 1); 0 if ignored.

    Takes what `summed` takes; no gradient goes through it.
    """
    losses = [
        cross_entropy(piece.float(), wanted, ignore_index=IGNORED, reduction="none")
        for _, piece, wanted in _pieces(logits.flatten(0, 1), _next(labels).flatten())
    ]
    return torch.cat(losses).view_as(labels)[:, :-1]


class _Summed(torch.autograd.Function):
    """The sum, which keeps its gradient in the precision of the logits and nothing else."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, wanted: Tensor) -> Tensor:
        total = torch.zeros((), device=logits.device)
        gradient = torch.empty_like(logits) if logits.requires_grad else None
        for start, piece, labels in _pieces(logits, wanted):
            scores = piece.float().requires_grad_(gradient is not None)
            with torch.enable_grad():
                loss = cross_entropy(scores, labels, ignore_index=IGNORED, reduction="sum")
            total += loss.detach()
            if gradient is not None:
                gradient[start : start + len(piece)] = torch.autograd.grad(loss, scores)[0]
        ctx.save_for_backward(gradient)
        return total

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (kept,) = ctx.saved_tensors
        return kept * gradient, None


def _next(labels: Tensor) -> Tensor:
    """Put each token's successor in its place; the last has none."""
    return pad(labels[:, 1:], (0, 1), value=IGNORED)


def _pieces(logits: Tensor, wanted: Tensor) -> Iterator[tuple[int, Tensor, Tensor]]:
    """Cut into pieces of whole tokens; each comes behind the place of its first token."""
    size = max(1, PIECE // logits.shape[-1])
    starts = range(0, len(logits), size)
    return zip(starts, logits.split(size), wanted.split(size), strict=True)
