"""Tensors that are random and the same at each call, and how close two tensors are."""

from typing import Any

import torch
from torch import Tensor, nn

from methods.conformance.models import VOCABULARY


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def random(*shape: int, seed: int = 2) -> Tensor:
    """Draw standard normal numbers in float64."""
    return torch.randn(*shape, generator=generator(seed), dtype=torch.float64)


def token_ids(*shape: int, seed: int = 3) -> Tensor:
    return torch.randint(VOCABULARY, shape, generator=generator(seed))


def with_another_token(ids: Tensor, at: int) -> Tensor:
    """Copy texts, (batch, tokens), and change the token at one position of each."""
    changed = ids.clone()
    changed[:, at] = (ids[:, at] + 1) % VOCABULARY
    return changed


def randomise(module: Any, std: float = 0.5, seed: int = 1) -> Any:
    """Draw every trained parameter, so that nothing is at its start; return the module."""
    draw = generator(seed)
    for parameter in module.parameters():
        if parameter.requires_grad:
            nn.init.normal_(parameter, std=std, generator=draw)
    return module


def difference(left: Tensor, right: Tensor) -> float:
    """Find the largest absolute difference of two entries."""
    return float((left - right).detach().abs().max())


def assert_close(found: Tensor, expected: Tensor, rtol: float = 1e-11) -> None:
    torch.testing.assert_close(found, expected, rtol=rtol, atol=1e-11)
