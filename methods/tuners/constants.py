"""Tensors that depend on sizes alone, made once for all layers of a size."""

from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

import torch
from torch import Tensor

P = ParamSpec("P")
Made = TypeVar("Made")


def constant(make: Callable[P, Made]) -> Callable[P, Made]:
    """Keep what `make` returns, by its arguments.

    It is made out of inference mode, in which it could not be used for training later. Nothing is
    kept of what is made under `FakeTensorMode`: it has no values and belongs to that mode.
    """
    ordinary = torch.inference_mode(mode=False)(make)
    kept = cache(ordinary)

    @wraps(make)
    def get(*args: P.args, **kwargs: P.kwargs) -> Made:
        fake = type(torch.empty(0, device="cpu")) is not Tensor
        return ordinary(*args, **kwargs) if fake else kept(*args, **kwargs)  # type: ignore[arg-type]

    return get
