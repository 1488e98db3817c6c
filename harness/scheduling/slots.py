"""The slots of this machine: a GPU each, or an equal share of the cores."""

import os
from collections.abc import Sequence
from dataclasses import dataclass

from harness import gpus
from harness.errors import UserError

MOST_CPU_SLOTS = 4

VISIBLE = "CUDA_VISIBLE_DEVICES"

NONE = ("", "-1", "NoDevFiles")
"""By which the user hides all GPUs."""


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
            found[VISIBLE] = self.gpu
        if self.threads is not None:
            found |= {"OMP_NUM_THREADS": str(self.threads), "OMP_WAIT_POLICY": "PASSIVE"}
        return found


def local_slots(count: int | None, gpus: Sequence[str], per_gpu: int = 1) -> list[Slot]:
    """Divide this machine into slots: `per_gpu` of each GPU, else shares of the cores.

    At most `count`, which the GPUs take in turn. The share of the cores does not depend on how many
    runs there are: thread counts may move a last digit. Where the user says how many threads there
    are, by OMP_NUM_THREADS, each slot has as many.
    """
    if gpus:
        return [Slot(gpu=gpu) for gpu in [*gpus] * per_gpu][:count]
    cores = len(os.sched_getaffinity(0))
    count = count or min(cores, MOST_CPU_SLOTS)
    own = "OMP_NUM_THREADS" in os.environ
    return [Slot(threads=None if own else max(1, cores // count))] * count


def visible_gpus() -> list[str]:
    """List the GPUs of this machine that the user lets us see.

    Raises:
        UserError: The user names one that is not there.
    """
    if not gpus.possible():
        return []  # without the second that torch takes
    import torch  # noqa: PLC0415 (start-up time)

    count = torch.cuda.device_count()  # up to the first name that is wrong
    visible = os.environ.get(VISIBLE)
    if visible is None:
        return [str(n) for n in range(count)]
    names = [name.strip() for name in visible.split(",")]
    if names[0] in NONE:
        return []
    if count < len(names):
        raise UserError(
            f"{names[count]}: no GPU of this machine, or one that is named twice. Asked for is "
            f"{visible}, by --gpus or {VISIBLE}; `nvidia-smi -L` lists numbers and UUIDs."
        )
    return names


def take(names: str) -> None:
    """Let this process and all that it starts see some GPUs alone.

    Args:
        names: Those as CUDA_VISIBLE_DEVICES has them: numbers or UUIDs, with commas.

    Raises:
        UserError: One of them is not there.
    """
    os.environ[VISIBLE] = names
    if not visible_gpus():
        raise UserError(f"--gpus {names}: there is no GPU that torch sees on this machine.")
