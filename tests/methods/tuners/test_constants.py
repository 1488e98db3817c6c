"""What LoCA keeps of its transforms serves training, whatever mode it was first made in."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode

from methods.loca import dct, idct
from methods.tuners.constants import constant
from methods.tuners.places import drawn


def orthonormal(size: int) -> Tensor:
    """Write the DCT-II out: row k is cos(pi k (2 i + 1) / (2 n)), of length 1."""
    k, i = torch.arange(size).double()[:, None], torch.arange(size).double()
    waves = torch.cos(torch.pi * k * (2 * i + 1) / (2 * size))
    return torch.nn.functional.normalize(waves, dim=1)


# A size for each case, since what is kept is kept for all tests of the process.
@pytest.mark.parametrize(
    ("mode", "size"),
    [
        (FakeTensorMode, 37),
        (lambda: FakeTensorMode(allow_non_fake_inputs=True), 38),
        (torch.inference_mode, 39),
    ],
    ids=["fake", "fake with real inputs", "inference"],
)
def test_transforms_first_used_under_a_mode_serve_training_later(mode: Any, size: int) -> None:
    with mode():
        idct(dct(torch.ones(2, size, dtype=torch.float64)))
    x = torch.eye(size, dtype=torch.float64, requires_grad=True)
    transformed = dct(x)
    torch.testing.assert_close(transformed, orthonormal(size).T, rtol=0.0, atol=1e-12)
    torch.testing.assert_close(idct(transformed), x, rtol=0.0, atol=1e-12)
    transformed.sum().backward()
    assert x.grad is not None


def test_transforms_used_before_serve_a_fake_mode_later() -> None:
    dct(torch.ones(2, 41))
    with FakeTensorMode():
        assert dct(torch.ones(2, 41)).shape == (2, 41)


def test_a_constant_is_made_once() -> None:
    calls: list[int] = []

    @constant
    def ones(size: int) -> Tensor:
        calls.append(size)
        return torch.ones(size)

    assert ones(2) is ones(2)
    assert ones(3) is not ones(2)
    assert calls == [2, 3]


def test_places_are_those_that_peft_draws_for_fourierft_and_shira_and_are_drawn_once() -> None:
    # fourierft/layer.py and shira/mask_functions.py of PEFT 0.21: the first of a permutation.
    expected = torch.randperm(60, generator=torch.Generator().manual_seed(777))[:9]
    found = drawn(60, 9, 777, torch.device("cpu"))
    assert torch.equal(found, expected)
    assert drawn(60, 9, 777, torch.device("cpu")) is found
    assert found.untyped_storage().nbytes() == 9 * 8  # the rest of the permutation is let go
