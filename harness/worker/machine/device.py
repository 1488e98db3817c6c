"""The device of a run: whether it is the planned one, what is free on it, and what it held."""

import os
import re
import resource
import sys
from collections.abc import Mapping
from pathlib import Path

import torch

from harness.spec.planned import PlannedRun

KINDS = ("allocated", "reserved")
"""Of the memory of a GPU: in tensors, and by the process."""

MEMORY = Path("/proc/meminfo")
"""Where Linux says how much memory is free."""


def require(planned: PlannedRun) -> None:
    """Go on only where the plan meant.

    Raises:
        RuntimeError: The run was planned for GPUs, and torch sees none or too few.
    """
    # Without starting CUDA, which no process has that is forked later.
    os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
    processes = planned.spec.train.processes
    if planned.gpu and 0 < torch.cuda.device_count() < processes:
        raise RuntimeError(
            f"planned for {processes} GPUs, one for each process; torch sees "
            f"{torch.cuda.device_count()}. Run the command again with --gpus-per-run {processes}."
        )
    if planned.gpu and not torch.cuda.is_available():
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        raise RuntimeError(
            f"planned for a GPU, with weights in {planned.spec.weights}; torch {torch.__version__} "
            f"sees none (CUDA_VISIBLE_DEVICES is {'not set' if visible is None else repr(visible)})"
            ". Look with nvidia-smi whether the card is there and has that number, then run the "
            "command again."
        )


def free_memory() -> int:
    """Give the bytes that are free: of the GPU, or of the machine where there is none.

    Where the system does not say it, there is no end to them.
    """
    if torch.cuda.is_available():
        free, _ = torch.cuda.mem_get_info()
        return int(free) + torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
    told = re.search(r"MemAvailable:\s+(\d+) kB", MEMORY.read_text() if MEMORY.exists() else "")
    return int(told[1]) * 1024 if told else sys.maxsize


def meter() -> dict[str, int]:
    """Give the most memory of the GPU since the last call, in bytes by kind; nothing without one.

    A phase that torch has not begun to use the GPU in has none.
    """
    if not torch.cuda.is_initialized():
        return {}
    held = (torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
    torch.cuda.reset_peak_memory_stats()
    return dict(zip(KINDS, held, strict=True))


def peak_memory_bytes(phases: Mapping[str, Mapping[str, int]]) -> int:
    """Return the most memory that was held: on a GPU by its phases, else by a process.

    That is this one or one of those that it forked and that have ended, such as the other ranks.
    """
    if phases:
        return max(peak["allocated"] for peak in phases.values())
    unit = 1 if sys.platform == "darwin" else 1024
    whose = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return max(resource.getrusage(who).ru_maxrss for who in whose) * unit
