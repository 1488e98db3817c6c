"""How long a GPU takes for a piece of work, by its data sheet."""

from dataclasses import dataclass

from harness.spec.spec import Products

LAUNCH = 6e-6
"""Seconds from one kernel to the next, which Python and torch take on the CPU: assumed."""


@dataclass(frozen=True)
class Work:
    """What a computation asks of a device.

    Attributes:
        kernels: Operators that run.
        low: Operations in products of 16-bit matrices; a multiplication and an addition are two.
        full: Operations in products of float32 matrices.
        moved: Bytes that operators read and write.
    """

    kernels: float
    low: float
    full: float
    moved: float


@dataclass(frozen=True)
class Speed:
    """What a GPU does in a second at most: operations, without sparsity, and bytes."""

    bfloat16: float
    tf32: float
    float32: float
    memory: float

    def seconds(self, work: Work, products: Products = "highest") -> float:
        """Say how long some work takes where each part goes at its best.

        Python prepares the next kernels while the GPU computes, so the slower of both counts.
        """
        full = {"highest": self.float32, "high": self.tf32, "medium": self.bfloat16}[products]
        computing = work.low / self.bfloat16 + work.full / full + work.moved / self.memory
        return max(work.kernels * LAUNCH, computing)


H200 = Speed(bfloat16=989e12, tf32=494e12, float32=67e12, memory=4.8e12)
"""NVIDIA H200 SXM."""
