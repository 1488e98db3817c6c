"""What a run takes of a machine or a cluster, and how many runs go at a time."""

import os
from dataclasses import dataclass, replace

from harness import gpus
from harness.scheduling.slots import Slot, local_slots, visible_gpus


@dataclass(frozen=True)
class Resources:
    """What a user asks for; an executor makes of it what it has.

    Attributes:
        slots: Runs at a time, at most; None for as many as there is room for.
        per_gpu: Runs at a time on one GPU.
        gpus_per_run: GPUs of one run, or its processes where there is none.
        cpus_per_run: Cores of one run; None for an equal share of this machine, or one of a node.
        device: What runs are planned for; None for what this machine has.
    """

    slots: int | None = None
    per_gpu: int = 1
    gpus_per_run: int = 1
    cpus_per_run: int | None = None
    device: gpus.Device | None = None

    @property
    def gpu(self) -> bool:
        """Whether runs have GPUs."""
        return gpus.meant(self.device)

    def here(self) -> list[Slot]:
        """Divide this machine into slots; raises as `local_slots` does."""
        seen = [] if self.device == "cpu" else visible_gpus()
        found = local_slots(self.slots, seen, self.per_gpu, self.gpus_per_run, self.cpus_per_run)
        return [self._kept_to(slot) for slot in found]

    def on_a_node(self) -> Slot:
        """Describe a slot of a cluster, which gives the GPUs itself.

        The processes of a run divide its cores. A number of threads that the user set by
        OMP_NUM_THREADS wins over that.
        """
        own = os.environ.get("OMP_NUM_THREADS", "")
        share = max(1, (self.cpus_per_run or 1) // self.gpus_per_run)
        return self._kept_to(Slot(threads=int(own) if own.isdecimal() else share))

    def _kept_to(self, slot: Slot) -> Slot:
        """Hide GPUs from runs that are planned for a CPU: torch takes what it sees."""
        return replace(slot, gpu="") if self.device == "cpu" else slot
