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
  of the printed parameters. Importing this file puts the same operation in torch in its place, so
  f is what the configuration says, on every machine.
- P_i are dense matrices of float32, f in^2 numbers for each layer: 134 MB for 4096 inputs and
  f = 2, or 8.6 GB for the queries and values of 32 layers.
- R is multiplied out in each forward pass, in the precision of the base, also when one token is
  decoded. Merge the adapter where that matters.
- Dropout replaces a share of the blocks of one factor by the identity, rounded down to whole
  blocks: at 0.1, a layer of fewer than 10 blocks has none.

The configuration is that of the RoSA paper's baseline: b = 4, f = 2 and dropout 0.1 on queries and
values. The DyPAM paper has no BOFT.

Variants: `rosa-paper`.
"""

from typing import Any

import torch
from peft import BOFTConfig, BOFTModel, PeftType
from peft.mapping import PEFT_TYPE_TO_TUNER_MAPPING
from peft.tuners.boft import layer as peft_layer
from torch import Tensor, nn
from transformers import PreTrainedModel

from methods.contract import Method
from methods.tuners.config import require
from methods.tuners.layers import targeted


class BlockDiagonal:
    """What PEFT's CUDA extension computes, in torch."""

    @staticmethod
    def forward(blocks: Tensor) -> list[Tensor]:
        """Map blocks (f, k, b, b) to block-diagonal matrices (f, k b, k b)."""
        return [torch.stack([torch.block_diag(*factor) for factor in blocks])]

    @staticmethod
    def backward(gradient: Tensor, blocks: Tensor) -> list[Tensor]:
        """Take the blocks (f, k, b, b) out of the gradient of the matrices."""
        k, b = blocks.shape[1:3]
        apart = gradient.view(-1, k, b, k, b).diagonal(dim1=1, dim2=3)
        return [apart.permute(0, 3, 1, 2).contiguous()]


class BOFTLinear(peft_layer.Linear):
    """PEFT's layer, whose permutations need no values: the constructor works without weights."""

    def block_butterfly_perm(
        self, n: int, b: int, r: int = 3, n_butterfly_factor: int = 1
    ) -> Tensor:
        """Permute each of `b` blocks of the numbers to n: even runs of `r` first, then odd ones."""
        if n_butterfly_factor == 0:
            return torch.arange(n)
        runs = torch.arange(n).view(b, -1, r)
        return torch.cat([runs[:, 0::2], runs[:, 1::2]], dim=1).flatten()

    def perm2mat(self, indices: Tensor) -> Tensor:
        """Turn a permutation (n) into its matrix (n, n)."""
        return torch.eye(len(indices))[indices]


class ButterflyModel(BOFTModel):
    """PEFT's tuner over `BOFTLinear`."""

    @staticmethod
    def _create_new_module(
        boft_config: BOFTConfig, adapter_name: str, target: Any, **kwargs: Any
    ) -> nn.Module:
        return BOFTLinear(target, adapter_name, config=boft_config, **kwargs)


peft_layer._FBD_CUDA = BlockDiagonal()  # type: ignore[assignment]
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
