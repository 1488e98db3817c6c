"""Computing in the precision of the tensors at hand."""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor


def without_autocast(x: Tensor) -> AbstractContextManager[None]:
    """Switch autocast off on the device of `x`, where the device has it."""
    if torch.amp.is_autocast_available(x.device.type):
        return torch.autocast(x.device.type, enabled=False)
    return nullcontext()
