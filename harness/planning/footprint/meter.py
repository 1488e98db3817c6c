"""What a computation costs on a device of which only the shapes are known."""

import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry


class Meter(TorchDispatchMode):
    """Counts the bytes of all tensors that are alive at once, as an allocator would, and the work.

    On the meta device nothing is computed and nothing is held, yet tensors are made and dropped
    in the order in which they are on a GPU, in the backward pass too.

    Args:
        known: Tensors that are there before, and are not counted.

    Attributes:
        now: Bytes that are alive.
        peak: The most that were.
        kernels: Operators that made a tensor of their own.
        moved: Bytes that these read and wrote.
        products: Operations in products of matrices, by the bytes of a number of theirs.
    """

    def __init__(self, known: Iterable[Tensor]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.now, self.peak = 0, 0
        self.kernels, self.moved = 0, 0
        self.products: Counter[int] = Counter()
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
        """Call an operator; count what it made and what it did."""
        given = kwargs or {}
        result = func(*args, **given)
        made = _tensors(result)
        for tensor in made:
            storage = tensor.untyped_storage()
            self._hold(storage, storage.nbytes())
        operator: Any = func
        if made and not operator.is_view:
            read = _tensors((args, given))
            self.kernels += 1
            self.moved += sum(tensor.nbytes for tensor in (*read, *made))
            if count := flop_registry.get(operator.overloadpacket):
                self.products[read[0].itemsize] += count(*args, **given, out_val=result)
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


def _tensors(values: Any) -> list[Tensor]:
    """List the tensors among values; the numbers of a sparse one are tensors of their own."""
    found = (one for one in tree_leaves(values) if isinstance(one, Tensor))
    return [one for one in found if one.layout == torch.strided]
