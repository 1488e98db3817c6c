"""What a computation costs on a device of which only the shapes are known."""

import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Meter(TorchDispatchMode):
    """Counts the bytes of all tensors that are alive at once, as an allocator would.

    On the meta device nothing is computed and nothing is held, yet tensors are made and dropped
    in the order in which they are on a GPU, in the backward pass too.

    Args:
        known: Tensors that are there before, and are not counted.

    Attributes:
        now: Bytes that are alive.
        peak: The most that were.
    """

    def __init__(self, known: Iterable[Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.now, self.peak = 0, 0
        self._held: set[int] = set()
        for tensor in known:
            self._hold(tensor.untyped_storage(), 0)

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call an operator and count what it made."""
        result = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(result):
            # The numbers of a sparse tensor are tensors of their own.
            if isinstance(tensor, Tensor) and tensor.layout == torch.strided:
                storage = tensor.untyped_storage()
                self._hold(storage, storage.nbytes())
        return result

    def _hold(self, storage: torch.UntypedStorage, size: int) -> None:
        key = storage._cdata
        if key in self._held:
            return
        self._held.add(key)
        self.now += size
        self.peak = max(self.peak, self.now)
        # What comes to lie at the same address later is another one.
        weakref.finalize(storage, self._drop, key, size)

    def _drop(self, key: int, size: int) -> None:
        self._held.discard(key)
        self.now -= size
