"""A layer's output from its Haar coefficients, its low frequencies and a product of low rank."""

from typing import Any, NamedTuple

from torch import Tensor
from torch.autograd import Function

from methods.tuners.cosine import add_low_idct, low_dct
from methods.tuners.haar import dots, haar, transposed_haar
from methods.tuners.sparse import Places, product, sampled


class Low(NamedTuple):
    """An output of low rank, B a.

    Attributes:
        a: What the columns of B are multiplied with, (tokens, r).
        B: (m, r).
    """

    a: Tensor
    B: Tensor


def write(u: Tensor, details: Places, numbers: Tensor, w: Tensor, z: Tensor, low: Low) -> Tensor:
    """Make an output (tokens, m) in one piece.

    Args:
        u: Haar coefficients of the input, (n, tokens).
        details: Where the numbers of a matrix (m, n) lie, which makes those of the output.
        numbers: Its numbers, sorted by row, (K,).
        w: What the token weighs these with, (tokens,).
        z: Low frequencies of the output, (tokens, p), as `low_dct` orders them.
        low: What is added to the output.
    """
    y: Tensor = Write.apply(u, details, numbers, w, z, *low)  # type: ignore[no-untyped-call]
    return y


class Write(Function):
    """`write` with its gradient in one piece.

    Step by step, autograd would go over the gradient of the output once for each step.
    """

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Tensor:
        """Compute what `write` returns."""
        u, ctx.details, numbers, w, z, a, B = inputs  # noqa: N806
        ctx.save_for_backward(u, numbers, w, a, B)
        ctx.low = z.shape[1]
        y = transposed_haar(product(ctx.details.rows, numbers, u).mul_(w))
        return add_low_idct(y, z).addmm_(a, B.T)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients of u, numbers, w, z, a and B."""
        (grad,) = gradients
        u, numbers, w, a, B = ctx.saved_tensors  # noqa: N806
        v = haar(grad)
        to_u = product(ctx.details.transposed, numbers[ctx.details.order], v)
        to_w = dots(u, to_u)
        to_numbers = sampled(ctx.details.rows, numbers, u, v.mul_(w))
        to_z = low_dct(grad, ctx.low)
        return to_u.mul_(w), None, to_numbers, to_w, to_z, grad @ B, grad.T @ a
