"""Dropout that, on a CPU, draws and holds only the places of what drops out."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function


class Dropout(nn.Dropout):
    """Sets each entry to zero with probability p in training, and divides the others by 1 - p.

    The distribution is that of `nn.Dropout`, the draws are others. On a CPU there is one for each
    entry that drops out: one for each entry of the input takes longer than a small product of
    matrices.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Return what is left of the input, of any shape."""
        if not self.training or not self.p:
            return input
        y: Tensor = Dropped.apply(input, places(input, self.p), self.p)  # type: ignore[no-untyped-call]
        return y


class Dropped(Function):
    """Zero at some places, the rest divided by 1 - p; the gradient likewise."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, at: Tensor, p: float) -> Tensor:
        """Drop x at the places."""
        ctx.p = p
        ctx.save_for_backward(at)
        return _drop(x, at, p)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Drop the gradient there too."""
        (at,) = ctx.saved_tensors
        return _drop(gradients[0], at, ctx.p), None, None


def _drop(x: Tensor, at: Tensor, p: float) -> Tensor:
    y = (x / (1 - p)).contiguous()
    y.view(-1)[at] = 0
    return y


def places(x: Tensor, p: float) -> Tensor:
    """Draw the places of the entries of x that drop out, each with probability p.

    On a CPU they are indices: the distance from one to the next has a geometric distribution. So
    many distances are drawn that they end before the last entry less often than once in 10^20
    passes. On a GPU they are a mask over all entries: the number of indices would have to be waited
    for.
    """
    n = x.numel()
    if x.device.type != "cpu":
        return torch.empty(n, dtype=torch.bool, device=x.device).bernoulli_(p)
    draws = int(n * p + 10 * (n * p) ** 0.5 + 50)
    found = torch.empty(draws, dtype=torch.int64, device=x.device).geometric_(p).cumsum(0)
    return found[found <= n] - 1
