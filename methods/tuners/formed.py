"""What a layer forms of its parameters: not held for the gradient, kept in an evaluation."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.nn.functional import linear

from methods.tuners.autocast import without_autocast
from methods.tuners.room import Room

Form = Callable[..., Tensor]
"""Makes a tensor of others; whatever else decides, such as a scale, is bound by `partial`."""


class Formed(nn.Module):
    """Forms a layer's tensor of its parameters.

    In an evaluation (`tuners/kept.py`) it is formed once and kept to the end, if there is room.
    """

    def __init__(self) -> None:
        super().__init__()
        self._room: Room | None = None
        self._kept: dict[tuple[int, ...], Tensor] = {}

    def keep_in(self, room: Room | None) -> None:
        """Keep what is formed from now on, or with None drop it and keep nothing."""
        self._room, self._kept = room, {}

    def forward(self, form: Form, *parts: Tensor) -> Tensor:
        """Return form(*parts), where `parts` are parameters or buffers themselves."""
        if self._room is None or torch.is_grad_enabled():
            return form(*parts)
        key = tuple(map(id, parts))
        if key not in self._kept:
            made = form(*parts)
            if not self._room.takes(made.nbytes):
                return made
            self._kept[key] = made
        return self._kept[key]

    def product(self, x: Tensor, form: Form, *parts: Tensor, bias: Tensor | None = None) -> Tensor:
        """Multiply x (..., in) by the weight (out, in) that is formed, in the weight's precision.

        For the gradient the weight is formed again: neither it nor x in its precision is held.

        Args:
            x: Inputs.
            form: Makes the weight.
            parts: What it is made of; those that train get their gradient.
            bias: Added to the product, (out,), frozen; None for none.
        """
        if torch.is_grad_enabled():
            y: Tensor = Product.apply(x, form, bias, *parts)  # type: ignore[no-untyped-call]
            return y
        weight = self(form, *parts)
        return linear(x.to(weight.dtype), weight, bias)


class Product(Function):
    """A product with a weight that is formed in both passes."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, form: Form, bias: Tensor | None, *parts: Tensor) -> Tensor:
        """Return form(*parts) x + bias."""
        ctx.form = form
        ctx.save_for_backward(x, *parts)
        weight = form(*parts)
        return linear(x.to(weight.dtype), weight, bias)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of x and the parts."""
        x, *parts = ctx.saved_tensors
        needs_x, needs = ctx.needs_input_grad[0], ctx.needs_input_grad[3:]
        again = [
            part.detach().requires_grad_(need) for part, need in zip(parts, needs, strict=True)
        ]
        with torch.enable_grad():
            weight = ctx.form(*again)
        y = gradients[0].to(weight.dtype)
        with without_autocast(y):
            to_x = (y @ weight.detach()).to(x.dtype) if needs_x else None
            of_weight = y.flatten(0, -2).T @ x.flatten(0, -2).to(weight.dtype)
        trained = [part for part in again if part.requires_grad]
        found = iter(torch.autograd.grad(weight, trained, of_weight) if trained else ())
        return to_x, None, None, *(next(found) if need else None for need in needs)
