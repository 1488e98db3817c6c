"""SMoA: modulate diagonal blocks of the frozen weight, its coordinates ordered by spectral role.

    role(i) = sum_j j (U_ij s_j)^2 / sum_j (U_ij s_j)^2     of row i, W = U diag(s) V^T; columns: V
    M_k     = block k on the diagonal of P_out W P_in^T     P: rows, columns by ascending role
    dM_k    = (B_k A_k) * M_k                               k = 1 .. K; * is entry by entry
    y       = W x + (alpha / r) P_out^T diag(dM_1, ..., dM_K) P_in x

Singular values s descend, so block 1 holds the coordinates that the largest ones dominate. Rows,
columns and the rank budget r are each split evenly into K parts, the first ones larger by one where
K does not divide. With block k of out_k rows, in_k columns and rank rho_k: A_k of shape
(rho_k, in_k), uniform as Kaiming; B_k of shape (out_k, rho_k), zero, so that training starts at W.
One layer has

    sum_k rho_k (in_k + out_k)

parameters, 1/K of LoRA's at rank r where K divides all three. Only the blocks are formed, never the
(out, in) update, except to merge. Training forms a block in the forward and again in the backward
pass; an evaluation over bfloat16 keeps it, in float32.

Liu et al., 2026. SMoA: Spectrum Modulation Adapter for Parameter-Efficient Fine-Tuning, section
"Method", and its official code, PEFTZoo. What the text at hand leaves open, and the choice made:

- The spectral role, the uneven splits, A's start and the scale alpha / r, where r is the whole
  budget and not a block's rank: as in the official code.
- Layers, r, K, alpha and dropout: those of the example in the code's README, alpha = r as there.
- A block's rank above its smaller side: refused, since it would add parameters and no update.
- A row or column of zeros has no role. Wherever it comes, its entries of the update are zero.
- The anchors M_k: copies in the precision of W, not saved, where the official code keeps float32.
  Gathered from W in each pass they could not be told from the update once it is merged.

The decompositions are in float32, on a GPU where there is one. Since another machine may order near
ties differently, the two orders are saved with the adapter. They are also kept on disk, below
`$XDG_CACHE_HOME` or `~/.cache`, by the SHA-256 of the weight: a backbone is decomposed once, or in
each run where that folder cannot be written. An adapter takes its orders when they are first
needed; one that is loaded has them from its file, and nothing is decomposed.

Variants: `smoa-script` (r = 8, alpha = 8), the defaults of the code's training script; `small`, for
test models, with uneven splits.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from methods.contract import Method
from methods.tuners.adapter import Adapter
from methods.tuners.blocks import ModulatedProduct, Orders, modulated, product
from methods.tuners.config import NativeConfig, require
from methods.tuners.dropout import Dropout
from methods.tuners.formed import Formed
from methods.tuners.layers import targeted
from methods.tuners.linear import LinearTuner
from methods.tuners.peft_types import register
from methods.tuners.spectral_orders import spectral_orders


@dataclass
class SMoAConfig(NativeConfig):
    """Hyperparameters of SMoA.

    Attributes:
        r: Rank budget of a layer, shared by its blocks.
        K: Number of blocks.
        alpha: Scale of the update, times r.
        branch_ranks: The rank of each block, r in sum; None for an even split.
        dropout: Probability with which an entry of the adapter's input is dropped in training.
        target_modules: Names of the linear layers, or "all-linear".
    """

    peft_type = "SMOA"

    r: int = 32
    K: int = 2
    alpha: float = 32.0
    branch_ranks: list[int] | None = None
    dropout: float = 0.05
    target_modules: set[str] | str = field(
        default_factory=lambda: {"q_proj", "k_proj", "v_proj", "up_proj", "down_proj"}
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "at least 1", lambda value: value >= 1, "r", "K")
        require(self, "above 0", lambda value: value > 0, "alpha")
        require(self, "at least 0 and below 1", lambda value: 0 <= value < 1, "dropout")
        if self.r < self.K:
            raise ValueError(
                f"r must be at least K, {self.K}, a rank for each block, not {self.r}."
            )
        if self.branch_ranks is not None:
            self._check(self.branch_ranks)

    def _check(self, ranks: list[int]) -> None:
        if len(ranks) != self.K:
            raise ValueError(f"branch_ranks must be K, {self.K}, ranks, not {len(ranks)}: {ranks}.")
        if not all(rank >= 1 for rank in ranks):
            raise ValueError(f"branch_ranks must be at least 1 each, not {ranks}.")
        if sum(ranks) != self.r:
            raise ValueError(f"branch_ranks must sum to r, {self.r}, not to {sum(ranks)}: {ranks}.")

    def blocks(self, linear: nn.Linear) -> list[tuple[int, int, int]]:
        """List rows, columns and rank of each block of a layer.

        Raises:
            ValueError: The layer has fewer rows or columns than blocks, or a block fewer than its
                rank.
        """
        limit = min(linear.out_features, linear.in_features)
        if limit < self.K:
            raise ValueError(f"K may be at most {limit}, the layer's smaller side, not {self.K}.")
        rows, columns = split(linear.out_features, self.K), split(linear.in_features, self.K)
        blocks = list(zip(rows, columns, self.branch_ranks or split(self.r, self.K), strict=True))
        for number, (*sides, rank) in enumerate(blocks, start=1):
            if rank > min(sides):
                raise ValueError(
                    f"block {number} is {sides[0]} x {sides[1]}: its rank may be at most "
                    f"{min(sides)}, not {rank}. Lower r, or set branch_ranks."
                )
        return blocks


def split(total: int, parts: int) -> list[int]:
    """Split evenly, with the remainder in the first parts.

    >>> split(11, 4)
    [3, 3, 3, 2]
    """
    return [total // parts + (part < total % parts) for part in range(parts)]


class Block(nn.Module):
    """One block: its anchor M (rows, columns) and the low-rank factors that modulate it."""

    M: Tensor

    def __init__(self, rows: int, columns: int, rank: int, scale: float) -> None:
        super().__init__()
        self.scale = scale
        self.A = nn.Parameter(torch.empty(rank, columns))
        self.B = nn.Parameter(torch.zeros(rows, rank))
        nn.init.kaiming_uniform_(self.A, a=5**0.5)
        self.formed = Formed()

    def update(self) -> Tensor:
        """Return (alpha / r) dM, (rows, columns); an evaluation keeps it."""
        update: Tensor = self.formed(partial(modulated, scale=self.scale), self.A, self.B, self.M)
        return update


class SMoA(Adapter):
    """The blocks of one linear layer.

    Attributes:
        row_order: The rows of W by spectral role, (out,), int32; -1 until they are taken.
        column_order: Its columns, (in,), int32; likewise.
        ordered: Whether the orders are taken, from the weight or from a file.
    """

    row_order: Tensor
    column_order: Tensor

    def __init__(self, linear: nn.Linear, config: SMoAConfig) -> None:
        super().__init__()
        scale = config.alpha / config.r
        self.dropout = Dropout(config.dropout)
        self.blocks: Any = nn.ModuleList(Block(*shape, scale) for shape in config.blocks(linear))
        self.frozen = (linear,)  # in a tuple, so that it is no part of the adapter
        for name, size in zip(("row_order", "column_order"), linear.weight.shape, strict=True):
            not_taken = torch.full((size,), -1, dtype=torch.int32, device=linear.weight.device)
            self.register_buffer(name, not_taken)
        self.ordered = False

    @torch.inference_mode(mode=False)  # else what is taken while evaluating could not train
    def take_orders(self) -> None:
        """Take orders and anchors from the frozen weight, unless they are taken.

        While the parameters are without values, as where they are counted, any orders will do.
        """
        if self.ordered:
            return
        if not self.blocks[0].A.is_meta:
            for name, order in spectral_orders(self.frozen[0].weight).items():
                self.get_buffer(name).copy_(order)
            self.ordered = True
        self._take_anchors()

    def _take_anchors(self) -> None:
        weight = self.frozen[0].weight.detach()
        for block, rows, columns in self._places():
            block.register_buffer("M", weight[rows[:, None], columns], persistent=False)
        # By int64 selecting is ten times as fast.
        for name, order in (("rows", self.row_order), ("columns", self.column_order)):
            self.register_buffer(name, order.long(), persistent=False)
            self.register_buffer(f"{name}_back", order.argsort(), persistent=False)

    def _places(self) -> Iterator[tuple[Block, Tensor, Tensor]]:
        """Pair each block with its rows and columns of the weight."""
        rows = self.row_order.split([block.B.shape[0] for block in self.blocks])
        columns = self.column_order.split([block.A.shape[1] for block in self.blocks])
        return zip(self.blocks, rows, columns, strict=True)

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, *arguments: Any
    ) -> None:
        super()._load_from_state_dict(state_dict, prefix, *arguments)
        # An adapter may have been saved before it took its orders.
        if f"{prefix}row_order" in state_dict and bool((self.row_order >= 0).all()):
            self._take_anchors()  # those of the loaded orders
            self.ordered = True

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., in) to the update's share of the output, (..., out)."""
        self.take_orders()
        flat = self.dropout(x).reshape(-1, x.shape[-1])
        return self._product(flat).view(*x.shape[:-1], -1)

    def _product(self, x: Tensor) -> Tensor:
        orders = Orders(*(self.get_buffer(name) for name in Orders._fields))
        if not torch.is_grad_enabled():
            return product(x, [block.update() for block in self.blocks], orders)
        parts = (part for block in self.blocks for part in (block.A, block.B, block.M))
        scale = self.blocks[0].scale
        y: Tensor = ModulatedProduct.apply(x, scale, orders, *parts)  # type: ignore[no-untyped-call]
        return y

    def weight_update(self) -> Tensor:
        """Return (alpha / r) P_out^T diag(dM_1, ..., dM_K) P_in, (out, in)."""
        self.take_orders()
        like: Tensor = self.blocks[0].A
        update = like.new_zeros(len(self.row_order), len(self.column_order))
        for block, rows, columns in self._places():
            update[rows[:, None], columns] = block.update()
        return update


class SMoAModel(LinearTuner):
    """Puts a `SMoA` beside every targeted linear layer."""

    adapter = SMoA


register(SMoAConfig, SMoAModel)


def parameters(config: SMoAConfig, model: PreTrainedModel) -> int:
    """Count the formula of the module docstring over the targeted layers."""
    layers = targeted(config, model).values()
    blocks = [block for layer in layers for block in config.blocks(layer)]
    return sum(rank * (rows + columns) for rows, columns, rank in blocks)


method = Method(
    title="SMoA",
    paper="https://arxiv.org/abs/2605.21147",
    config=SMoAConfig,
    parameters=parameters,
    mergeable=True,
    variants={"smoa-script": {"r": 8, "alpha": 8.0}, "small": {"r": 13, "K": 3}},
)
