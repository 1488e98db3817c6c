"""A product with blocks on the diagonal that modulate a frozen matrix, in orders of their own."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd import Function
from torch.nn.functional import linear

from methods.tuners.autocast import without_autocast


class Orders(NamedTuple):
    """Orders of the rows and columns of a matrix (out, in) as int64, and the ways back."""

    rows: Tensor
    columns: Tensor
    rows_back: Tensor
    columns_back: Tensor


def modulated(A: Tensor, B: Tensor, M: Tensor, scale: float) -> Tensor:  # noqa: N803
    """Return scale (B A) * M, (rows, columns), in the precision of A."""
    return ((scale * B) @ A).mul_(M)


def product(x: Tensor, blocks: Sequence[Tensor], orders: Orders) -> Tensor:
    """Map x (tokens, in) to P_out^T diag(blocks) P_in x, (tokens, out)."""
    return _in_order(x.index_select(1, orders.columns), blocks, orders)


def _in_order(x: Tensor, blocks: Sequence[Tensor], orders: Orders) -> Tensor:
    parts = x.split([block.shape[1] for block in blocks], dim=1)
    y = [linear(part, block) for part, block in zip(parts, blocks, strict=True)]
    return torch.cat(y, dim=1).index_select(1, orders.rows_back)


class ModulatedProduct(Function):
    """The product with the blocks of (A_1, B_1, M_1, A_2, ...).

    For the gradient they are formed again: nothing of their size is held, only x in its order.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: float, orders: Orders, *parts: Tensor) -> Tensor:
        """Return P_out^T diag(scale (B_k A_k) * M_k) P_in x."""
        x = x.index_select(1, orders.columns)
        ctx.scale, ctx.orders = scale, orders
        ctx.save_for_backward(x, *parts)
        return _in_order(x, [modulated(*block, scale) for block in _triples(parts)], orders)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of x, A_k and B_k."""
        x, *parts = ctx.saved_tensors
        triples, orders = _triples(parts), ctx.orders
        of_y = gradients[0].to(x.dtype).index_select(1, orders.rows)
        xs = x.split([A.shape[1] for A, _, _ in triples], dim=1)
        ys = of_y.split([len(B) for _, B, _ in triples], dim=1)
        of_x: list[Tensor] = []
        of_parts: list[Tensor | None] = []
        with without_autocast(x):
            for x_k, y_k, (A, B, M) in zip(xs, ys, triples, strict=True):  # noqa: N806
                if ctx.needs_input_grad[0]:
                    of_x.append(y_k @ modulated(A, B, M, ctx.scale))
                of_product = (y_k.T @ x_k).mul_(M)
                of_parts += [ctx.scale * B.T @ of_product, of_product @ (ctx.scale * A.T), None]
        to_x = torch.cat(of_x, dim=1).index_select(1, orders.columns_back) if of_x else None
        return to_x, None, None, *of_parts


def _triples(parts: Sequence[Tensor]) -> list[tuple[Tensor, Tensor, Tensor]]:
    return list(zip(parts[::3], parts[1::3], parts[2::3], strict=True))
