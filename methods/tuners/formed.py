"""What a layer forms of its parameters: not held for the gradient, but kept in evaluation."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.nn.functional import linear

from methods.tuners.autocast import without_autocast

Form = Callable[..., Tensor]
"""Makes a tensor of others; whatever else decides, such as a scale, is bound by `partial`."""


class Formed(nn.Module):
    """Forms a layer's tensor of its parameters.

    Where no gradient is recorded, as in decoding, it is formed once and kept until one of the
    tensors that it is made of changes, or training goes on. It is neither saved nor copied with the
    layer. A change through `.data`, which leaves no trace, is only seen where the storage is a new
    one.
    """

    def __init__(self) -> None:
        super().__init__()
        self._kept: tuple[Any, Tensor] | None = None

    def forward(self, form: Form, *parts: Tensor) -> Tensor:
        """Return form(*parts)."""
        if self.training or torch.is_grad_enabled():
            self._kept = None
            return form(*parts)
        state = [(id(part), part._version, part.data_ptr(), part.dtype) for part in parts]
        now = getattr(form, "args", ()), state
        if self._kept is None or self._kept[0] != now:
            self._kept = now, form(*parts)
        return self._kept[1]

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
            self._kept = None
            y: Tensor = Product.apply(x, form, bias, *parts)  # type: ignore[no-untyped-call]
            return y
        weight = self(form, *parts)
        return linear(x.to(weight.dtype), weight, bias)

    def train(self, mode: bool = True) -> "Formed":
        """Drop what is kept where training goes on."""
        self._kept = None if mode else self._kept
        return super().train(mode)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_kept": None}


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
