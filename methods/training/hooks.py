"""The moments of an optimizer step at which a method may act."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TrainingAhead:
    """What a method may know of the training ahead.

    Attributes:
        steps: Optimizer steps in all.
        warmup_steps: Those over which the learning rate rises.
        seed: For choices of its own; apart from start values and order of rows.
    """

    steps: int
    warmup_steps: int
    seed: int


class StepHooks:
    """What a method does at each optimizer step; steps count from 1.

    Gradients are whole when a hook sees them: accumulated over the batches of the step, averaged by
    the engine, not yet clipped, and in `parameter.grad` under DeepSpeed too. A hook may change them
    in place.
    """

    def before_forward(self, step: int) -> None:
        """Act before the first forward pass of the step."""

    def after_backward(self, step: int) -> None:
        """Act on the gradients, before they are clipped."""

    def after_step(self, step: int) -> None:
        """Act on the parameters that the optimizer has just moved, with the gradients at hand.

        Not called under DeepSpeed, which keeps the parameters to itself: a method that needs it
        says so by `zero_safe=False`.
        """

    def state(self) -> dict[str, Any]:
        """Return what a later step depends on beside the adapter and torch's random numbers.

        By name: tensors, JSON values, and lists and objects of them. A checkpoint keeps it.
        """
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` returned; called on new hooks, before their first step.

        The tensors are on the CPU.
        """

    def record(self) -> dict[str, Any]:
        """Return what the run folder keeps, as JSON values by name."""
        return {}
