"""Orthonormal transforms of a layer's channels: cosine (DCT-II) and Haar, dense, fast and fused."""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import Function
from torch.nn.functional import embedding_bag

from methods.tuners.constants import constant

BLOCK = 32
"""Channels that are transformed by one small matrix product, at most."""

PIECE = 128
"""Channels, or pairs of them, whose products are summed at a time."""


@constant
def cosines(rows: int, n: int, device: torch.device, dtype: torch.dtype) -> Tensor:
    """Make the first rows of the orthonormal DCT-II basis, (rows, n)."""
    i = torch.arange(rows, device="cpu")[:, None]
    turns = i * (2 * torch.arange(n, device="cpu") + 1) % (4 * n)  # exact, unlike large angles
    basis = math.sqrt(2 / n) * torch.cos(turns.double() * (math.pi / (2 * n)))
    basis[:1] *= math.sqrt(1 / 2)
    return basis.to(device, dtype)


@constant
def _phase(size: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return what turns the Fourier transform of a reordered vector into its cosine transform."""
    k = torch.arange(size // 2 + 1, dtype=torch.float64, device="cpu")
    length = torch.full_like(k, math.sqrt(2 / size))
    length[0] = math.sqrt(1 / size)
    return torch.polar(length, -math.pi * k / (2 * size)).to(device, dtype.to_complex())


def dct(x: Tensor) -> Tensor:
    """Transform the last dimension by the orthonormal DCT-II, in float32 or float64."""
    size = x.shape[-1]
    reordered = torch.cat([x[..., ::2], x[..., 1::2].flip(-1)], dim=-1)
    z = torch.fft.rfft(reordered) * _phase(size, x.dtype, x.device)
    return torch.cat([z.real, -z.imag[..., 1 : (size + 1) // 2].flip(-1)], dim=-1)


def idct(z: Tensor) -> Tensor:
    """Undo `dct`, which is also its transpose."""
    size = z.shape[-1]
    half = size // 2
    mirrored = torch.cat([torch.zeros_like(z[..., :1]), z[..., size - half :].flip(-1)], dim=-1)
    halves = torch.complex(z[..., : half + 1], -mirrored)
    reordered = torch.fft.irfft(halves / _phase(size, z.dtype, z.device), n=size)
    x = torch.empty_like(z)
    x[..., ::2] = reordered[..., : size - half]
    x[..., 1::2] = reordered[..., size - half :].flip(-1)
    return x


@constant
def pairwise(channels: int, device: torch.device, dtype: torch.dtype) -> Tensor:
    """Make the Haar analysis of some channels, which is its own inverse, (channels, channels)."""
    pair = torch.tensor([[1.0, 1.0], [1.0, -1.0]], dtype=torch.float64, device="cpu")
    blocks = torch.block_diag(*[pair * math.sqrt(1 / 2)] * (channels // 2))
    moved: Tensor = blocks.to(device, dtype)
    return moved


def haar(x: Tensor) -> Tensor:
    """Analyse tokens (tokens, n): coefficients (n, tokens), low-pass and high-pass in turns.

    As products with a small matrix, since these transpose at the same time.
    """
    block = math.gcd(x.shape[1], BLOCK)
    channels = x.unflatten(1, (-1, block)).permute(1, 2, 0)
    matrix = pairwise(block, x.device, x.dtype)
    return torch.bmm(matrix.expand(len(channels), -1, -1), channels).flatten(0, 1)


def inverse_haar(u: Tensor) -> Tensor:
    """Synthesise what `haar` analysed, (n, tokens) to (tokens, n); also the adjoint of `haar`."""
    block = math.gcd(u.shape[0], BLOCK)
    tokens = u.unflatten(0, (-1, block)).transpose(1, 2)
    matrix = pairwise(block, u.device, u.dtype)
    x = u.new_empty(u.shape[1], u.shape[0])
    # Written to where it belongs: copying it there would take as long again.
    placed = x.unflatten(1, (-1, block)).transpose(0, 1)
    torch.bmm(tokens, matrix.expand(len(tokens), -1, -1), out=placed)
    return x


def dots(a: Tensor, b: Tensor) -> Tensor:
    """Sum products over channels, (channels, ..., tokens) to (..., tokens).

    In pieces, so that the products stay in the processor's cache.
    """
    pieces = zip(a.split(PIECE), b.split(PIECE), strict=True)
    return torch.stack([(one * other).sum(0) for one, other in pieces]).sum(0)


def read(x: Tensor, basis: Tensor, weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Take from x (tokens, n) all that the experts and the router need of it.

    Returns:
        Haar coefficients u (n, tokens); sums of squares of their low-pass and their high-pass half,
        (2, tokens); products of x with the rows of basis (q, n) and weight (k, n), (tokens, q + k).
    """
    taken: tuple[Tensor, Tensor, Tensor] = Read.apply(x, basis, weight)  # type: ignore[no-untyped-call]
    return taken


class Read(Function):
    """`read` with its gradient in one piece.

    Step by step, autograd would go over the gradient of x once for each step.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, basis: Tensor, weight: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Compute what `read` returns."""
        u = haar(x)
        ctx.save_for_backward(x, basis, weight, u)
        halves = u.unflatten(0, (-1, 2))
        return u, dots(halves, halves), x @ torch.cat([basis, weight]).T

    @staticmethod
    def backward(
        ctx: Any, grad_u: Tensor, grad_energies: Tensor, grad_products: Tensor
    ) -> tuple[Tensor | None, None, Tensor]:
        """Return the gradients of x and weight."""
        x, basis, weight, u = ctx.saved_tensors
        grad_weight = grad_products[:, len(basis) :].T @ x
        if not ctx.needs_input_grad[0]:
            return None, None, grad_weight
        halves, grad_halves = u.unflatten(0, (-1, 2)), grad_u.unflatten(0, (-1, 2))
        grad_u = torch.addcmul(grad_halves, halves, grad_energies, value=2).flatten(0, 1)
        rows = torch.cat([basis, weight])
        return inverse_haar(grad_u).addmm_(grad_products, rows), None, grad_weight


class Sparse(NamedTuple):
    """A sparse matrix (m, n), row by row.

    Attributes:
        numbers: What is in it, (K,).
        columns: The column of each, (K,).
        offsets: Where each row begins, (m,).
    """

    numbers: Tensor
    columns: Tensor
    offsets: Tensor


def write(
    u: Tensor, details: Sparse, w: Tensor, factors: Tensor, basis: Tensor, weight: Tensor
) -> Tensor:
    """Make the output (tokens, m): the counterpart of `read`.

    Of Haar coefficients v (m, tokens), weighed by w (tokens,), and of the rows of basis (p, m) and
    weight (k, m) times factors (tokens, p + k). v is the product of the details (m, n) with the
    coefficients u (n, tokens) of the input.
    """
    y: Tensor = Write.apply(u, *details, w, factors, basis, weight)  # type: ignore[no-untyped-call]
    return y


def _combined(u: Tensor, numbers: Tensor, columns: Tensor, offsets: Tensor) -> Tensor:
    """Multiply u (n, tokens) by a sparse matrix (m, n)."""
    return embedding_bag(columns, u, offsets, mode="sum", per_sample_weights=numbers)


class Write(Function):
    """`write` with its gradient in one piece, which computes v again instead of holding it."""

    @staticmethod
    def forward(ctx: Any, *inputs: Tensor) -> Tensor:
        """Compute what `write` returns."""
        u, numbers, columns, offsets, w, factors, basis, weight = inputs
        ctx.save_for_backward(*inputs)
        v = _combined(u, numbers, columns, offsets)
        return inverse_haar(v).mul_(w[:, None]).addmm_(factors, torch.cat([basis, weight]))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of u, numbers, w, factors and weight."""
        (grad,) = gradients
        u, numbers, columns, offsets, w, factors, basis, weight = ctx.saved_tensors
        again = u.detach().requires_grad_(), numbers.detach().requires_grad_()
        with torch.enable_grad():
            v = _combined(*again, columns, offsets)
        grad_v = haar(grad)
        grad_w = dots(grad_v, v.detach())
        grad_u, grad_numbers = torch.autograd.grad(v, again, grad_v.mul_(w))
        grad_factors = grad @ torch.cat([basis, weight]).T
        grad_weight = factors[:, len(basis) :].T @ grad
        return grad_u, grad_numbers, None, None, grad_w, grad_factors, None, grad_weight
