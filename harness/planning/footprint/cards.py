"""The cards of this machine, and what fits on them."""

from dataclasses import dataclass

from harness import gpus
from results.reports.costs import size

CONTEXT = 600_000_000
"""Bytes that CUDA and its libraries take on a card beside all tensors: assumed."""


@dataclass(frozen=True)
class Card:
    """A GPU by its name, and its memory in bytes."""

    name: str
    memory: int

    def holds(self, need: int) -> bool:
        """Whether so many bytes fit."""
        return need + CONTEXT <= self.memory

    def __str__(self) -> str:
        """Write it as messages do."""
        return f"{self.name} ({size(self.memory)})"


def visible_cards(per_gpu: int = 1) -> list[Card]:
    """List the GPUs that torch sees, or the equal shares of them that a run gets."""
    if not gpus.there():
        return []
    import torch  # noqa: PLC0415 (start-up time)

    found = [torch.cuda.get_device_properties(n) for n in range(torch.cuda.device_count())]
    share = f"1/{per_gpu} of " if per_gpu > 1 else ""
    return [Card(share + one.name, one.total_memory // per_gpu) for one in found]
