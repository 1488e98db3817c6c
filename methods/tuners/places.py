"""Random places in a matrix, drawn once for all layers of a size."""

import torch
from torch import Tensor

from methods.tuners.constants import constant


@constant
def drawn(size: int, count: int, seed: int, device: torch.device) -> Tensor:
    """Draw `count` of `size` places, (count,): the first of a permutation from a seed of its own.

    FourierFT and SHiRA draw so in PEFT, on the CPU whatever the device.
    """
    generator = torch.Generator().manual_seed(seed)
    return torch.randperm(size, generator=generator, device="cpu")[:count].clone().to(device)
