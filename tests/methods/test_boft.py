"""BOFT against its paper (ICLR 2024, section 4): block-diagonal matrices, permuted, multiplied."""

import sys
from itertools import combinations
from typing import Any

import pytest
import torch
from torch import Tensor

from methods.boft import method
from methods.conformance.models import build
from methods.contract import size
from tests.methods.tensors import assert_close, random, randomise

INPUTS, OUTPUTS = 32, 64  # of the queries
TEXT = torch.randint(3, 64, (2, 9), generator=torch.Generator().manual_seed(1))

every_form = pytest.mark.parametrize(
    ("b", "f"), [(4, 1), (4, 2), (4, 3), (4, 4), (8, 2), (16, 2), (2, 5)]
)


def adapt(b: int = 4, f: int = 2, **fields: Any) -> Any:
    """Adapt a model whose queries and values have biases, with random numbers everywhere."""
    config = method.configure(boft_block_size=b, boft_n_butterfly_factor=f, **fields)
    return randomise(method.adapt(build("qwen2-gqa").double(), config).double().eval())


def queries(model: Any) -> Any:
    return model.base_model.model.model.layers[0].self_attn.q_proj


def numbers(layer: Any) -> tuple[Tensor, Tensor]:
    return layer.boft_R["default"], layer.boft_s["default"]


def cayley(x: Tensor) -> Tensor:
    q, one = (x - x.T) / 2, torch.eye(len(x), dtype=x.dtype)
    rotated: Tensor = (one - q) @ torch.linalg.inv(one + q)
    return rotated


def component(blocks: list[Tensor], level: int) -> Tensor:
    """Build a butterfly component by its definition in the paper.

    It has a butterfly factor for each 2^(level - 1) b numbers. A butterfly factor is cut into
    quarters, each of them block-diagonal with blocks of b / 2 numbers: block t of the four together
    is the rotation of b numbers, run t of the first half with run t of the second half.
    """
    b, runs = len(blocks[0]), 2 ** (level - 1)
    order: list[int] = []
    for factor in range(len(blocks) // runs):
        for t in range(runs):
            first = factor * runs * b + t * b // 2
            second = first + runs * b // 2
            order += [*range(first, first + b // 2), *range(second, second + b // 2)]
    permutation = torch.eye(len(order), dtype=torch.float64)[:, order]
    diagonal: Tensor = torch.block_diag(*blocks)
    return permutation @ diagonal @ permutation.T


def rotation(x: Tensor, dropped: tuple[int, ...] = (), at: int = 0) -> Tensor:
    """Multiply the components out, the last one leftmost, with the identity for dropped blocks."""
    product = torch.eye(INPUTS, dtype=torch.float64)
    for i in range(len(x)):
        lost = dropped if i == at else ()
        blocks = [torch.eye(len(m)).to(m) if k in lost else cayley(m) for k, m in enumerate(x[i])]
        product = component(blocks, i + 1) @ product
    return product


@every_form
def test_a_layer_and_its_gradients_equal_the_dense_product(b: int, f: int) -> None:
    layer, x = queries(adapt(b, f)), random(7, INPUTS)
    blocks, scale = numbers(layer)
    weight, bias = layer.base_layer.weight, layer.base_layer.bias
    expected = scale[:, 0] * (x @ rotation(blocks) @ weight.T) + bias
    assert_close(layer(x), expected)
    ways = random(7, OUTPUTS)
    gradients = torch.autograd.grad((layer(x) * ways).sum(), (blocks, scale))
    by_hand = torch.autograd.grad((expected * ways).sum(), (blocks, scale))
    assert_close(gradients[0], by_hand[0])
    assert_close(gradients[1], by_hand[1])


@every_form
@torch.no_grad()
def test_each_factor_mixes_twice_as_many_numbers_by_a_rotation(b: int, f: int) -> None:
    layer = queries(adapt(b, f))
    bare, bias = layer.base_layer.weight.T, layer.base_layer.bias
    outputs = (layer(torch.eye(INPUTS, dtype=torch.float64)) - bias) / numbers(layer)[1][:, 0]
    r = outputs @ torch.linalg.pinv(bare)
    torch.testing.assert_close(r @ r.T, torch.eye(INPUTS, dtype=torch.float64))
    group = torch.arange(INPUTS) // (b * 2 ** (f - 1))
    assert torch.equal(r.abs() > 1e-9, group[:, None] == group)


def test_two_factors_train_without_a_compiled_extension_and_count_by_the_formula() -> None:
    # PEFT sets the factors to one, with a warning, which is an error here, if it cannot compile.
    model = method.adapt(build("qwen2-gqa"), method.configure())
    assert "fbd_cuda" not in sys.modules
    assert numbers(queries(model))[0].shape == (2, INPUTS // 4, 4, 4)
    expected = 2 * ((2 * INPUTS * 4 + 64) + (2 * INPUTS * 4 + 32))  # queries and values, two layers
    assert size(model).trainable == expected
    assert method.parameters is not None
    assert method.parameters(method.configure(), build("qwen2-gqa")) == expected


@torch.no_grad()
def test_it_starts_as_the_identity() -> None:
    layer = queries(method.adapt(build("qwen2-gqa").double(), method.configure()).double())
    assert_close(layer(random(7, INPUTS)), layer.base_layer(random(7, INPUTS)))


@torch.no_grad()
@pytest.mark.parametrize("safe", [False, True])
def test_merging_folds_rotation_and_scale_into_the_weight(safe: bool) -> None:
    model = adapt()
    blocks, scale = numbers(queries(model))
    weight, bias = (p.clone() for p in queries(model).base_layer.parameters())
    logits = model(input_ids=TEXT).logits
    merged = model.merge_and_unload(safe_merge=safe)
    assert_close(
        merged.model.layers[0].self_attn.q_proj.weight, scale * (weight @ rotation(blocks).T)
    )
    assert torch.equal(merged.model.layers[0].self_attn.q_proj.bias, bias)
    torch.testing.assert_close(merged(input_ids=TEXT).logits, logits, rtol=1e-9, atol=1e-9)


@torch.no_grad()
def test_dropout_makes_a_share_of_the_blocks_of_one_factor_the_identity() -> None:
    layer, x = queries(adapt(b=8, boft_dropout=0.5)).train(), random(7, INPUTS)
    blocks, scale = numbers(layer)
    weight, bias = layer.base_layer.weight, layer.base_layer.bias
    choices = [(pair, at) for pair in combinations(range(4), 2) for at in (0, 1)]
    outputs = [scale[:, 0] * (x @ rotation(blocks, *c) @ weight.T) + bias for c in choices]
    y = layer(x)
    assert sum(bool((y - output).abs().max() < 1e-11) for output in outputs) == 1


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"b": 6}, "q_proj has 32 inputs: 2 blocks together .* block size, which is 6,"),
        ({"b": 1, "f": 2}, "q_proj has 32 inputs: .* block size, which is 1, must be even"),
        ({"f": 5}, "q_proj has 32 inputs: 16 blocks together must divide them"),
        ({"f": 0}, "boft_n_butterfly_factor must be at least 1, not 0"),
        ({"b": -4}, "boft_block_size must be at least 0, not -4"),
    ],
)
def test_blocks_that_do_not_divide_the_inputs_are_refused(
    fields: dict[str, int], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        adapt(**fields)
