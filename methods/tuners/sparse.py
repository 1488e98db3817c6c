"""Products of sparse matrices with channels (channels, tokens)."""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import embedding_bag


class Rows(NamedTuple):
    """Where the numbers of a sparse matrix lie, row by row.

    Attributes:
        columns: The column of each, (K,).
        offsets: Where each row begins, (rows,).
    """

    columns: Tensor
    offsets: Tensor


class Places(NamedTuple):
    """Where the numbers of a sparse matrix lie, sorted by row.

    Attributes:
        rows: The matrix.
        transposed: Its transpose.
        order: Which number comes next in the transpose, (K,).
    """

    rows: Rows
    transposed: Rows
    order: Tensor


def places(i: Tensor, j: Tensor, m: int, n: int) -> Places:
    """Place numbers at (i, j) of a matrix (m, n); i is sorted."""
    order = j.argsort(stable=True)
    return Places(_rows(i, j, m), _rows(j[order], i[order], n), order)


def _rows(i: Tensor, j: Tensor, rows: int) -> Rows:
    return Rows(j, torch.searchsorted(i, torch.arange(rows, device=i.device)))


def product(rows: Rows, numbers: Tensor, u: Tensor) -> Tensor:
    """Multiply u (columns, tokens) by the matrix that has these numbers, (rows, tokens).

    The product has no gradient for u: that is the product with the transpose.
    """
    # Detached it is quicker, even where no graph is recorded: nothing is noted for its gradient.
    return embedding_bag(
        rows.columns, u.detach(), rows.offsets, mode="sum", per_sample_weights=numbers
    )


def sampled(rows: Rows, numbers: Tensor, u: Tensor, grad: Tensor) -> Tensor:
    """Return the gradient of the numbers, where that of their product with u is `grad`."""
    again = numbers.detach().requires_grad_()
    with torch.enable_grad():
        v = product(rows, again, u)
    (found,) = torch.autograd.grad(v, again, grad)
    return found
