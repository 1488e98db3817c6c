"""The losses of the steps, from the device to the journal."""

import time
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from harness.worker.journal import Journal, now
from harness.worker.training.divergence import require_finite

STEPS, SECONDS = 20, 1.0
"""How long losses wait at most."""


class Losses:
    """Keeps the losses of steps on the device until the journal gets those of several at once.

    To read one is to wait for all that the device was asked to do. On leaving, what is left is
    read, after an error too: an earlier loss that was not finite may be its cause.
    """

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.waiting: list[tuple[dict[str, Tensor], dict[str, Any]]] = []
        self.read_at = time.monotonic()

    def __enter__(self) -> "Losses":
        return self

    def __exit__(self, *_: object) -> None:
        self.read()

    def add(self, losses: Mapping[str, Tensor], **facts: Any) -> None:
        """Take the losses of a step, scalars by their name, and what else its event says.

        Raises:
            DivergedError: One of those that were read is not finite.
        """
        self.waiting.append((dict(losses), {"time": now(), **facts}))
        if len(self.waiting) >= STEPS or time.monotonic() - self.read_at >= SECONDS:
            self.read()

    def read(self) -> None:
        """Write the events of all steps up to the first whose loss is not finite.

        Raises:
            DivergedError: There is one.
        """
        waiting, self.waiting = self.waiting, []
        if waiting:
            stacked = torch.stack([loss for losses, _ in waiting for loss in losses.values()])
            numbers = iter(stacked.tolist())
        for losses, facts in waiting:
            found = {name: next(numbers) for name in losses}
            self.journal.write(**facts, **found)
            require_finite(facts["step"], **found)
        self.read_at = time.monotonic()
