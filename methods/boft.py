"""BOFT: rotate the input of each frozen linear layer by a product of sparse orthogonal matrices.

    y = s * (W R^T x) + bias        R = M_f ... M_2 M_1
    M_i = P_i diag(R_i1, ..., R_ik) P_i^T

The R_ij of shape (b, b) are Cayley transforms (I - Q) (I + Q)^-1 of Q = (X_ij - X_ij^T) / 2, and
P_i are the fixed permutations of a butterfly: M_1 mixes the numbers within blocks of b, each
further factor within blocks of twice the size. X of shape (f, in / b, b, b) is zero and s of shape
(out, 1) is one, so that training starts at W. f in b + out parameters a layer: PEFT trains X whole,
of which only the skew part matters.

Liu et al., 2023. Parameter-Efficient Orthogonal Finetuning via Butterfly Factorization, section 4.
The tuner is PEFT's, with what is said below. Of PEFT:

- Without its CUDA extension, which must be compiled at first use, PEFT sets f to 1 and trains half
  of the printed parameters. Here f is what the configuration says, on every machine.
- PEFT makes dense matrices of the P_i, of the factors and of R, in the precision of the base, and
  multiplies them in each pass. Here each factor turns the input block by block, in the precision
  of the adapter, and only merging forms R. So over a base in bfloat16 the turned input is rounded
  once, where PEFT rounds the factors, R and the input.
- An evaluation over bfloat16 keeps the R_ij.
- Dropout replaces a share of the blocks of one factor by the identity, rounded down to whole
  blocks: at 0.1, a layer of fewer than 10 blocks has none.

The configuration is that of the RoSA paper's baseline: b = 4, f = 2 and dropout 0.1 on queries and
values. The DyPAM paper has no BOFT.

Variants: `rosa-paper`.
"""

import math
from typing import Any

import torch
from peft import BOFTConfig, BOFTModel, PeftType
from peft.mapping import PEFT_TYPE_TO_TUNER_MAPPING
from peft.tuners.boft import layer as peft_layer
from torch import Tensor, nn
from transformers import PreTrainedModel

from methods.contract import Method
from methods.tuners.config import require
from methods.tuners.constants import constant
from methods.tuners.formed import Formed
from methods.tuners.layers import targeted


@constant
def butterfly(n: int, run: int, factor: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Permute n numbers so that what a block of a factor mixes lies side by side, and back.

    Within each 2^factor runs of numbers the even ones go to the first half, or come from it.
    """
    runs = torch.arange(n, device="cpu").view(-1, 2**factor, run)
    back = torch.cat([runs[:, 0::2], runs[:, 1::2]], dim=1).flatten()
    return back.argsort().to(device), back.to(device)


class BOFTLinear(peft_layer.Linear):
    """PEFT's layer, which turns its inputs factor by factor and has no matrices of their size."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.formed = Formed()

    def update_layer(self, *args: Any, **kwargs: Any) -> None:
        """Add an adapter, without the permutation matrices."""
        super().update_layer(*args, **kwargs)
        del self.boft_P

    def block_butterfly_perm(self, *_: Any, **__: Any) -> Tensor:
        """Stand in for a permutation."""
        return torch.zeros(())

    def perm2mat(self, indices: Tensor) -> Tensor:
        """Fill a permutation matrix, which is dropped, with what stands in for it."""
        return indices

    def forward(self, x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Map (..., in) to (..., out)."""
        names = [name for name in self.active_adapters if name in self.boft_R]
        if self.disable_adapters or self.merged or not names:
            y: Tensor = super().forward(x, *args, **kwargs)
            return y
        turned = x
        for name in reversed(names):
            turned = turn(turned, self.boft_dropout[name](self._blocks(name)))
        base: Any = self.base_layer
        y, bias = base(turned.to(x.dtype), *args, **kwargs), base.bias
        scale = math.prod(self.boft_s[name].squeeze(-1) for name in names)
        y = y * scale if bias is None else (y - bias) * scale + bias
        return y.to(x.dtype)

    def get_delta_weight(self, adapter: str) -> tuple[Tensor, Tensor]:
        """Return R (in, in) and s (out, 1)."""
        blocks = self._blocks(adapter)
        one = torch.eye(self.in_features, dtype=blocks.dtype, device=blocks.device)
        return turn(one, blocks), self.boft_s[adapter]

    def _blocks(self, name: str) -> Tensor:
        """Return the R_ij of an adapter, (f, in / b, b, b)."""
        blocks: Tensor = self.formed(self._cayley, self.boft_R[name])
        return blocks

    def _cayley(self, X: Tensor) -> Tensor:  # noqa: N803
        blocks: Tensor = self.cayley_batch(X.flatten(0, 1))  # type: ignore[no-untyped-call]
        return blocks.view_as(X)


def turn(x: Tensor, blocks: Tensor) -> Tensor:
    """Multiply rows x (..., in) by M_f ... M_1 of blocks (f, in / b, b, b), in their precision."""
    f, k, b, _ = blocks.shape
    x = x.to(blocks.dtype)
    for i in reversed(range(f)):
        moves = butterfly(k * b, b // 2, i + 1, x.device) if i else ()
        apart = (x[..., moves[0]] if moves else x).unflatten(-1, (k, b))
        x = torch.einsum("...kb,kbc->...kc", apart, blocks[i]).flatten(-2)
        x = x[..., moves[1]] if moves else x
    return x


class ButterflyModel(BOFTModel):
    """PEFT's tuner over `BOFTLinear`."""

    @staticmethod
    def _create_new_module(
        boft_config: BOFTConfig, adapter_name: str, target: Any, **kwargs: Any
    ) -> nn.Module:
        return BOFTLinear(target, adapter_name, config=boft_config, **kwargs)


# Anything true keeps PEFT from compiling its extension, which nothing here calls.
peft_layer._FBD_CUDA = BOFTLinear  # type: ignore[assignment]
PEFT_TYPE_TO_TUNER_MAPPING[PeftType.BOFT] = ButterflyModel


def check(config: BOFTConfig, model: PreTrainedModel) -> None:
    """Check that the blocks of the last factor divide the inputs of every layer.

    Raises:
        ValueError: Names the field, or the first layer that they do not divide.
    """
    require(config, "at least 0", lambda value: value >= 0, "boft_block_size", "boft_block_num")
    require(config, "at least 1", lambda value: value >= 1, "boft_n_butterfly_factor")
    wider = 2 ** (config.boft_n_butterfly_factor - 1)
    for name, layer in targeted(config, model).items():
        n = layer.in_features
        size = config.boft_block_size or n / config.boft_block_num
        if size % min(wider, 2) or n % (size * wider):
            raise ValueError(
                f"{name} has {n} inputs: {wider} blocks together must divide them, and the block "
                f"size, which is {size:g}, must be {'even' if wider > 1 else 'a whole number'}."
            )


def parameters(config: BOFTConfig, model: PreTrainedModel) -> int:
    """Count f in b + out over the targeted layers."""
    return sum(
        config.boft_n_butterfly_factor
        * layer.in_features
        * (config.boft_block_size or layer.in_features // config.boft_block_num)
        + layer.out_features
        for layer in targeted(config, model).values()
    )


method = Method(
    title="BOFT",
    paper="https://arxiv.org/abs/2311.06243",
    config=BOFTConfig,
    defaults={
        "boft_block_size": 4,
        "boft_n_butterfly_factor": 2,
        "boft_dropout": 0.1,
        "target_modules": ["q_proj", "v_proj"],
    },
    parameters=parameters,
    mergeable=True,
    quantized=("nf4", "int8"),
    check=check,
    variants={"rosa-paper": {}},
)
