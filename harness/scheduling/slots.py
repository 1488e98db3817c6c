"""The slots of this machine: a GPU each, or an equal share of the cores."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from harness import gpus

MOST_CPU_SLOTS = 4


@dataclass(frozen=True)
class Slot:
    """A place for one run at a time.

    Attributes:
        gpu: The GPU by its name in CUDA_VISIBLE_DEVICES; None on a CPU.
        threads: The share of the cores; None leaves the number to the libraries.
    """

    gpu: str | None = None
    threads: int | None = None

    @property
    def environment(self) -> dict[str, str]:
        """The variables that keep a process within the slot."""
        found = {}
        if self.gpu is not None:
            found["CUDA_VISIBLE_DEVICES"] = self.gpu
        if self.threads is not None:
            found |= {"OMP_NUM_THREADS": str(self.threads), "OMP_WAIT_POLICY": "PASSIVE"}
        return found


def local_slots(count: int | None, gpus: Sequence[str], per_gpu: int = 1) -> list[Slot]:
    """Divide this machine into slots: `per_gpu` of each GPU, else shares of the cores.

    At most `count`, which the GPUs take in turn. The share of the cores does not depend on how many
    runs there are: thread counts may move a last digit.
    """
    if gpus:
        return [Slot(gpu=gpu) for gpu in [*gpus] * per_gpu][:count]
    cores = len(os.sched_getaffinity(0))
    count = count or min(cores, MOST_CPU_SLOTS)
    return [Slot(threads=max(1, cores // count))] * count


def visible_gpus() -> list[str]:
    """List the GPUs of this machine that the user lets us see."""
    if not gpus.there():
        return []
    if visible := os.environ.get("CUDA_VISIBLE_DEVICES", ""):
        return visible.split(",")
    import torch  # noqa: PLC0415 (start-up time)

    return [str(n) for n in range(torch.cuda.device_count())]
