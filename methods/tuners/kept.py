"""What depends on parameters alone is computed once for an evaluation, and kept until its end.

In float32 a layer whose adapter can be merged gives its place to a plain layer that holds the sum
of weight and update, so that a token costs what it costs the bare model. The layer itself, with its
frozen weights and its parameters, is not touched, and takes its place again at the end. The tuner's
own `merge` makes the sum, on a copy of the layer.

Over weights of fewer digits, which would round the update away, nothing is merged unless `rounding`
asks for it. There, and where a method cannot be merged, `Formed` keeps what a layer forms of its
parameters (`tuners/formed.py`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import torch
from peft.tuners.tuners_utils import BaseTunerLayer
from torch import nn

from methods.contract import Method
from methods.tuners.formed import Formed
from methods.tuners.room import Room

EXACT = (torch.float32, torch.float64)
"""Precisions in which a sum of weight and update loses no more than the order of sums does."""


@contextmanager
def keeping(
    model: nn.Module, method: Method, *, rounding: bool = False, room: Room | None = None
) -> Iterator[None]:
    """Evaluate `model` in this block, in which its parameters do not change.

    Args:
        model: An adapted model.
        method: What it is adapted by.
        rounding: Merge into weights of any precision, whatever room there is; each sum is taken in
            float32 and rounded once. Else only what is exact is merged, and as much as there is
            room for.
        room: For what is kept; its `short` says afterwards whether something did not fit.
    """
    room = room or Room()
    formed = [module for module in model.modules() if isinstance(module, Formed)]
    places = list(_places(model, rounding)) if method.mergeable else []
    taken = [place for place in places if rounding or _fits(place[2], room)]
    # Made before any is put in its place: a layer may lie within another.
    merged = [_merged(layer) for _, _, layer in taken]
    try:
        for one in formed:
            one.keep_in(room)
        for (parent, child, _), module in zip(taken, merged, strict=True):
            setattr(parent, child, module)
        yield
    finally:
        for one in formed:
            one.keep_in(None)
        for (parent, child, layer), module in zip(taken, merged, strict=True):
            setattr(parent, child, layer.train(module.training))


def _places(model: nn.Module, rounding: bool) -> Iterator[tuple[nn.Module, str, Any]]:
    """List the layers that can be merged, each with where it is."""
    for parent in model.modules():
        for child, layer in parent.named_children():
            adapting = isinstance(layer, BaseTunerLayer) and not layer.disable_adapters
            if adapting and (rounding or _is_exact(layer)):
                yield parent, child, layer


def _is_exact(layer: nn.Module) -> bool:
    parameters = list(layer.parameters())
    # TF32 would round the update together with the weight.
    precise = torch.get_float32_matmul_precision() == "highest"
    # Accelerate fetches weights that are spread over devices when they are needed.
    here = len({parameter.device for parameter in parameters}) == 1
    return precise and here and all(parameter.dtype in EXACT for parameter in parameters)


def _fits(layer: Any, room: Room) -> bool:
    return room.takes(sum(parameter.nbytes for parameter in layer.base_layer.parameters()))


@torch.no_grad()
def _merged(layer: Any) -> nn.Module:
    """Return a copy of the frozen module that has the update in its weights, in their precision."""
    frozen = dict(layer.base_layer.named_parameters())
    copies = {
        id(one): _parameter(one.to(_precise(one.dtype), copy=True)) for one in frozen.values()
    }
    shared = {id(one): _parameter(one.detach()) for one in layer.parameters()}
    buffers = {id(one): one for one in layer.buffers()}
    twin = deepcopy(layer, buffers | shared | copies)
    twin.merge()
    merged: nn.Module = twin.base_layer
    for name, parameter in merged.named_parameters():
        parameter.data = parameter.data.to(frozen[name].dtype)
    return merged


def _precise(dtype: torch.dtype) -> torch.dtype:
    return torch.promote_types(dtype, torch.float32)


def _parameter(tensor: torch.Tensor) -> nn.Parameter:
    return nn.Parameter(tensor, requires_grad=False)
