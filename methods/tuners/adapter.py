"""What an adapter of a native tuner is."""

import torch
from torch import Tensor, nn


class Adapter(nn.Module):
    """The part of a method that sits on one layer.

    Trainable numbers are parameters; fixed ones are buffers, persistent where the trained adapter
    means nothing without them. (PEFT trains every parameter of an adapter, and casts them.)
    Parameters are made in float32, so that the adapter is float32 over a base in bfloat16 too.
    """

    @property
    def dtype(self) -> torch.dtype:
        """The precision in which the adapter computes: that of its parameters."""
        return next(self.parameters()).dtype

    def weight_update(self) -> Tensor:
        """Return the update (out, in) of the weight, for a method that can be merged."""
        raise NotImplementedError


def place(adapter: Adapter, device: torch.device) -> Adapter:
    """Move a new adapter to its layer's device, unless only its shape was asked for."""
    tensors = [*adapter.parameters(), *adapter.buffers()]
    shape_only = any(tensor.device.type == "meta" for tensor in tensors)
    return adapter if shape_only else adapter.to(device)
