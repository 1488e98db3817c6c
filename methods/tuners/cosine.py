"""The orthonormal cosine transform (DCT-II) of a layer's channels, fast, or of low frequencies."""

import math
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from methods.tuners.constants import constant


@constant
def _half(first: int, rows: int, n: int, device: torch.device, dtype: torch.dtype) -> Tensor:
    """Make every second row of the basis from `first` on, and of it the first half, (rows, n / 2).

    The other half mirrors it: a cosine of even frequency is symmetric, one of odd frequency
    antisymmetric.
    """
    i = torch.arange(first, first + 2 * rows, 2, device="cpu")[:, None]
    turns = i * (2 * torch.arange(n // 2, device="cpu") + 1) % (4 * n)  # exact, unlike large angles
    basis = math.sqrt(2 / n) * torch.cos(turns.double() * (math.pi / (2 * n)))
    basis[i[:, 0] == 0] *= math.sqrt(1 / 2)
    return basis.to(device, dtype)


def _halves(rows: int, n: int, like: Tensor) -> tuple[Tensor, Tensor]:
    even, odd = (_half(first, rows // 2, n, like.device, like.dtype) for first in (0, 1))
    return even, odd


def low_dct(x: Tensor, rows: int) -> Tensor:
    """Transform tokens (tokens, n) to their lowest frequencies (tokens, rows).

    As products with half of the basis: of an even frequency with the sum of the token and its
    mirror image, of an odd one with their difference.

    Args:
        x: Tokens; n is even.
        rows: How many frequencies, an even number. The even ones come first, then the odd ones.
    """
    even, odd = _halves(rows, x.shape[1], x)
    left, right = x.chunk(2, dim=1)
    mirrored = right.flip(1)
    z = x.new_empty(len(x), rows)
    torch.mm(left + mirrored, even.T, out=z[:, : rows // 2])
    torch.mm(left - mirrored, odd.T, out=z[:, rows // 2 :])
    return z


def add_low_idct(x: Tensor, z: Tensor) -> Tensor:
    """Add to x (tokens, n) what has the lowest frequencies z, as `low_dct` orders them."""
    even, odd = _halves(z.shape[1], x.shape[1], z)
    left, right = x.chunk(2, dim=1)
    low, high = z.chunk(2, dim=1)
    symmetric, antisymmetric = low @ even, high @ odd
    right += (symmetric - antisymmetric).flip(1)
    left += symmetric.add_(antisymmetric)
    return x


class LowDCT(Function):
    """`low_dct`, whose gradient is its transpose."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, rows: int) -> Tensor:
        """Compute what `low_dct` returns."""
        ctx.channels = x.shape[1]
        return low_dct(x, rows)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        """Return the gradient of x."""
        (grad,) = gradients
        return add_low_idct(grad.new_zeros(len(grad), ctx.channels), grad), None


@constant
def _phase(size: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return what turns the Fourier transform of a reordered vector into its cosine transform."""
    k = torch.arange(size // 2 + 1, dtype=torch.float64, device="cpu")
    length = torch.full_like(k, math.sqrt(2 / size))
    length[0] = math.sqrt(1 / size)
    return torch.polar(length, -math.pi * k / (2 * size)).to(device, dtype.to_complex())


@constant
def _phase_back(size: int, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return the reciprocal of `_phase`: multiplying is quicker than dividing."""
    return 1 / _phase(size, dtype, device)


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
    reordered = torch.fft.irfft(halves * _phase_back(size, z.dtype, z.device), n=size)
    x = torch.empty_like(z)
    x[..., ::2] = reordered[..., : size - half]
    x[..., 1::2] = reordered[..., size - half :].flip(-1)
    return x
