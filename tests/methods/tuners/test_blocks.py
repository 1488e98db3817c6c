"""The product with modulated blocks: equal to the plain way, which autograd goes through."""

import pytest
import torch
from torch import Tensor

from methods.tuners.blocks import ModulatedProduct, Orders, modulated, product
from tests.methods.tensors import generator, random

SHAPES = [(5, 3, 2), (4, 6, 1)]
"""Rows, columns and rank of each block."""

OUT, IN, SCALE = 9, 9, 0.7


def orders() -> Orders:
    draw = generator(3)
    rows, columns = torch.randperm(OUT, generator=draw), torch.randperm(IN, generator=draw)
    return Orders(rows, columns, rows.argsort(), columns.argsort())


def inputs() -> tuple[Tensor, list[Tensor]]:
    blocks = []
    for seed, (rows, columns, rank) in enumerate(SHAPES):
        blocks += [random(rank, columns, seed=seed), random(rows, rank, seed=seed + 5)]
        blocks += [random(rows, columns, seed=seed + 9)]
    for factors in (blocks[::3], blocks[1::3]):
        for factor in factors:
            factor.requires_grad_()
    return random(11, IN, seed=20).requires_grad_(), blocks


def plain(x: Tensor, blocks: list[Tensor], among: Orders) -> Tensor:
    """Multiply by the dense update, whose entries are put where the orders say."""
    update = torch.zeros(OUT, IN, dtype=x.dtype)
    row = column = 0
    for a, b, m in zip(blocks[::3], blocks[1::3], blocks[2::3], strict=True):
        rows, columns = among.rows[row : row + len(b)], among.columns[column : column + a.shape[1]]
        update = update.index_put((rows[:, None], columns), SCALE * (b @ a) * m)
        row, column = row + len(b), column + a.shape[1]
    return x @ update.T


def test_outputs_and_gradients_are_those_of_the_dense_update() -> None:
    x, blocks = inputs()
    leaves = [x, *(one for one in blocks if one.requires_grad)]
    upstream = random(11, OUT, seed=30)
    found = ModulatedProduct.apply(x, SCALE, orders(), *blocks)
    expected = plain(x, blocks, orders())
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)
    for one, other in zip(
        torch.autograd.grad(found, leaves, upstream),
        torch.autograd.grad(expected, leaves, upstream),
        strict=True,
    ):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


@torch.no_grad()
def test_the_product_of_evaluation_is_the_same() -> None:
    x, blocks = inputs()
    formed = [
        modulated(a, b, m, SCALE)
        for a, b, m in zip(blocks[::3], blocks[1::3], blocks[2::3], strict=True)
    ]
    expected = plain(x, blocks, orders())
    torch.testing.assert_close(product(x, formed, orders()), expected, rtol=1e-12, atol=1e-12)


def test_an_input_without_gradient_gets_none() -> None:
    x, blocks = inputs()
    ModulatedProduct.apply(x.detach(), SCALE, orders(), *blocks).sum().backward()
    assert x.grad is None
    assert blocks[0].grad is not None


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32], ids=str)
def test_a_frozen_matrix_of_any_precision_modulates_in_that_of_the_factors(
    dtype: torch.dtype,
) -> None:
    a, b, m = random(2, 4).float(), random(3, 2).float(), random(3, 4).to(dtype)
    assert torch.equal(modulated(a, b, m, 1.0), b @ a * m.float())
