"""Which coefficients of a matrix's cosine and Haar transform are learnt, and where they lie."""

from typing import NamedTuple

import torch
from torch import Tensor

from methods.tuners.constants import constant
from methods.tuners.sparse import Places, places

BANDS = 3
"""The detail bands of the Haar transform: LH, HL and HH, in this order."""


def low_frequencies(m: int, n: int, k: int) -> tuple[Tensor, Tensor]:
    """Find the k places (i, j) of an (m, n) matrix with the smallest i + j, then the smallest i.

    >>> i, j = low_frequencies(3, 4, 5)
    >>> list(zip(i.tolist(), j.tolist()))
    [(0, 0), (0, 1), (1, 0), (0, 2), (1, 1)]
    """
    sums = torch.arange(m + n - 1, device="cpu")
    first = (sums - n + 1).clamp(min=0)
    lengths = sums.clamp(max=m - 1) - first + 1
    ends = lengths.cumsum(0)
    numbers = torch.arange(k, device="cpu")
    diagonal = torch.searchsorted(ends, numbers, right=True)
    i = first[diagonal] + numbers - (ends - lengths)[diagonal]
    return i, diagonal - i


def detail_places(m: int, n: int, k: int, seed: int) -> list[tuple[Tensor, Tensor]]:
    """Draw the places (i, j) of k coefficients in LH, HL and HH, each of shape (m / 2, n / 2)."""
    generator = torch.Generator().manual_seed(seed)
    size, width = (m // 2) * (n // 2), n // 2
    drawn = [
        torch.randperm(size, generator=generator, device="cpu")[:share].sort().values
        for share in per_band(k)
    ]
    return [(places // width, places % width) for places in drawn]


def per_band(k: int) -> list[int]:
    """Split k coefficients over LH, HL and HH.

    >>> per_band(10_000)
    [3333, 3333, 3334]
    """
    return [(band + 1) * k // BANDS - band * k // BANDS for band in range(BANDS)]


class Corner(NamedTuple):
    """The corner of a cosine spectrum that has the coefficients in it.

    Rows and columns are those of `low_dct`, which has even frequencies before odd ones.

    Attributes:
        p: Its rows, rounded up to a multiple of 8, at which matrix products are quick.
        q: Its columns, likewise.
        places: Where each coefficient lies, counted row by row, (k,).
    """

    p: int
    q: int
    places: Tensor

    def filled(self, s: Tensor) -> Tensor:
        """Return the corner with its coefficients s (k,) at their places, (p, q)."""
        return s.new_zeros(self.p * self.q).scatter(0, self.places, s).view(self.p, self.q)


@constant
def corner(m: int, n: int, k: int, device: torch.device) -> Corner:
    """Place the k lowest frequencies of a matrix (m, n)."""
    i, j = low_frequencies(m, n, k)
    p, q = (-(-(int(at.max()) + 1) // 8) * 8 for at in (i, j))
    row, column = (at // 2 + at % 2 * (size // 2) for at, size in ((i, p), (j, q)))
    return Corner(p, q, (row * q + column).to(device))


class Details(NamedTuple):
    """The coefficients of the detail bands.

    Attributes:
        order: Which coefficient comes next, row by row, (k,); they are band after band.
        bands: One where a coefficient, in this order, is of a band, (BANDS, k).
        places: Where they lie, in this order. Rows and columns are those of `haar`, which has
            low-pass and high-pass in turns.
    """

    order: Tensor
    bands: Tensor
    places: Places


@constant
def details(m: int, n: int, k: int, seed: int, like: tuple[torch.device, torch.dtype]) -> Details:
    """Place k coefficients of the detail bands of a matrix (m, n)."""
    high = ((0, 1), (1, 0), (1, 1))  # of rows and columns, in LH, HL and HH
    drawn = zip(detail_places(m, n, k, seed), high, strict=True)
    halves = [(2 * i + rows, 2 * j + columns) for (i, j), (rows, columns) in drawn]
    i, j = (torch.cat(both) for both in zip(*halves, strict=True))
    order = i.argsort(stable=True)
    band = torch.arange(BANDS, device="cpu").repeat_interleave(torch.tensor(per_band(k)))[order]
    bands = (band == torch.arange(BANDS, device="cpu")[:, None]).to(*like)
    i, j, order = (tensor.to(like[0]) for tensor in (i[order], j[order], order))
    return Details(order, bands, places(i, j, m, n))
