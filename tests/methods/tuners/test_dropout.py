"""Dropout by distances: each entry falls out on its own, and the gradient falls out with it."""

import math

import pytest
import torch
from torch import Tensor

from methods.tuners.dropout import Dropout, places

P = 0.05


def drawn(shape: tuple[int, ...], p: float = P, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Return what dropout leaves of ones, and of the gradient of their sum."""
    x = torch.ones(shape, dtype=torch.float64, requires_grad=True)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        y = Dropout(p)(x)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    return y.detach(), gradient


def test_an_entry_is_zero_or_divided_by_one_less_p_and_so_is_its_gradient() -> None:
    y, gradient = drawn((3, 7, 50))
    assert set(y.flatten().tolist()) == {0.0, 1 / (1 - P)}
    assert torch.equal(gradient, y)


@pytest.mark.parametrize("p", [0.003, P, 0.5, 0.97])
def test_entries_drop_out_independently_with_probability_p(p: float) -> None:
    # Of independent draws: the mean over n, and over the n - 1 pairs of neighbours p^2, each within
    # five standard deviations.
    n = 200_000
    gone = (drawn((n,), p)[0] == 0).double()
    assert abs(gone.mean().item() - p) < 5 * math.sqrt(p * (1 - p) / n)
    pairs = (gone[1:] * gone[:-1]).mean().item()
    assert abs(pairs - p**2) < 5 * math.sqrt(3 * p**2 / n)


def test_the_first_and_the_last_entry_drop_out_as_often_as_others() -> None:
    draws = torch.stack([drawn((4,), 0.5, seed)[0] == 0 for seed in range(400)]).double()
    assert ((draws.mean(0) - 0.5).abs() < 5 * 0.5 / math.sqrt(400)).all()


def test_what_drops_out_is_decided_by_the_seed_and_evaluation_drops_nothing() -> None:
    assert torch.equal(drawn((100,))[0], drawn((100,))[0])
    assert not torch.equal(drawn((100,))[0], drawn((100,), seed=1)[0])
    x = torch.ones(100)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0)(x) is x


def test_the_input_stays_as_it_is_in_whatever_layout() -> None:
    x = torch.ones(8, 6).T
    y = Dropout(0.5)(x)
    assert y.shape == x.shape
    assert bool((x == 1).all())
    assert Dropout(0.5)(torch.ones(0, 6)).shape == (0, 6)


def test_less_is_held_for_the_gradient_than_a_mask_of_bytes() -> None:
    held: list[Tensor] = []
    x = torch.ones(64, 512, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: held.append(t) or t, lambda t: t):
        Dropout(P)(x)
    assert sum(tensor.nbytes for tensor in held) < x.numel()


def test_off_the_cpu_a_mask_says_what_drops_out() -> None:
    # So that nothing waits to learn how many there are.
    assert places(torch.empty(3, 5, device="meta"), P).dtype == torch.bool
