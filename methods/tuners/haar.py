"""The Haar transform of one level of a layer's channels: sums and differences of neighbours."""

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

PIECE = 2**17
"""Products that are summed at a time, about."""


def haar(x: Tensor) -> Tensor:
    """Map tokens (tokens, n) to sums and differences of neighbours in turns, (n, tokens).

    That is the orthonormal transform times the root of 2, which whoever uses it takes back.
    """
    return _pairs(x.T.contiguous())


def transposed_haar(u: Tensor) -> Tensor:
    """Return the transpose of `haar`, (n, tokens) to (tokens, n); also twice its inverse."""
    return _pairs(u).T.contiguous()


def _pairs(channels: Tensor) -> Tensor:
    even, odd = channels[::2], channels[1::2]
    turned = torch.empty_like(channels)
    torch.add(even, odd, out=turned[::2])
    torch.sub(even, odd, out=turned[1::2])
    return turned


def dots(a: Tensor, b: Tensor) -> Tensor:
    """Sum products over channels, (channels, ..., tokens) to (..., tokens).

    In pieces, so that the products stay in the processor's cache.
    """
    channels = max(1, PIECE // max(1, a[0].numel()))
    pieces = zip(a.split(channels), b.split(channels), strict=True)
    return torch.stack([(one * other).sum(0) for one, other in pieces]).sum(0)


class Haar(Function):
    """`haar`, and the sums of squares of its sums and of its differences, (2, tokens).

    Step by step, autograd would go over the gradient of the coefficients once for each step.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> tuple[Tensor, Tensor]:
        """Map tokens (tokens, n) to coefficients and sums."""
        u = haar(x)
        ctx.save_for_backward(u)
        halves = u.unflatten(0, (-1, 2))
        return u, dots(halves, halves)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        """Return the gradient of x."""
        grad_u, grad_energies = gradients
        (u,) = ctx.saved_tensors
        halves, grad_halves = u.unflatten(0, (-1, 2)), grad_u.unflatten(0, (-1, 2))
        return transposed_haar(
            torch.addcmul(grad_halves, halves, grad_energies, value=2).flatten(0, 1)
        )
