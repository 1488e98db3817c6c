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
        gpu: The GPU, or several with commas, by name in CUDA_VISIBLE_DEVICES; empty to hide all;
            None where a run takes what it sees.
        threads: Of each process of a run; None leaves the number to the libraries.
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


def local_slots(
    count: int | None,
    gpus: Sequence[str],
    per_gpu: int = 1,
    gpus_per_run: int = 1,
    cpus_per_run: int | None = None,
) -> list[Slot]:
    """Divide this machine into slots: `per_gpu` of each GPU, else shares of the cores.

    At most `count`, which the GPUs take in turn. Of several GPUs per run those that follow each
    other are a slot, and what is left over is none; without GPUs the processes of a run divide its
    share of the cores. The share does not depend on how many runs there are: thread counts may move
    a last digit. Where the user says how many cores a run has, there are as many slots as that
    gives; and where OMP_NUM_THREADS says how many threads there are, each slot has as many.

    Raises:
        UserError: A run is to have more GPUs than there are.
    """
    if gpus and gpus_per_run > len(gpus):
        raise UserError(
            f"--gpus-per-run {gpus_per_run}: torch sees {len(gpus)} here ({', '.join(gpus)})."
        )
    if gpus:
        firsts = range(0, len(gpus) - gpus_per_run + 1, gpus_per_run)
        groups = [",".join(gpus[first : first + gpus_per_run]) for first in firsts]
        return [Slot(gpu=group) for group in groups * per_gpu][:count]
    cores = len(os.sched_getaffinity(0))
    most = cores // cpus_per_run if cpus_per_run else min(cores // gpus_per_run, MOST_CPU_SLOTS)
    count = count or max(1, most)
    threads = (cpus_per_run or cores // count) // gpus_per_run
    own = "OMP_NUM_THREADS" in os.environ
    return [Slot(threads=None if own else max(1, threads))] * count


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


def hide() -> None:
    """Let this process and all that it starts see no GPU."""
    os.environ[VISIBLE] = ""


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
