"""The executor of a command, whose first worker imports while the command does, and plans."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cache

from harness import plugins
from harness.commands.leaving import Leaving
from harness.commands.report import counted
from harness.errors import UserError
from harness.planning.faults import Faults
from harness.planning.parse import parse
from harness.planning.request import Request
from harness.scheduling.executors.contract import Executor
from harness.scheduling.hangs import WithoutHangs
from harness.scheduling.slots import local_slots, visible_gpus

Opened = Callable[[], Executor]
"""Gives the executor; raises `UserError` where there is none of its name."""


@dataclass(frozen=True)
class Share:
    """How much of this machine runs take.

    Attributes:
        slots: Runs at a time, at most; by the GPUs or cores if None.
        per_gpu: Runs at a time on one GPU.
        stall: The seconds after which a run that has told nothing new is ended; never if None.
    """

    slots: int | None = None
    per_gpu: int = 1
    stall: float | None = None

    def cut(self, gpus: int) -> list[str]:
        """Say so where fewer runs go at a time than were asked for."""
        most = gpus * self.per_gpu
        if not gpus or not self.slots or self.slots <= most:
            return []
        there = counted(gpus, "GPU", "GPUs")
        return [f"--slots {self.slots}: {most} at a time, with {there}; see --per-gpu"]


@contextmanager
def started(
    request: Request, executor: str, share: Share, leaving: Leaving | None = None
) -> Iterator[Opened]:
    """Open an executor for the runs of a request; let it warm up if the request can be read.

    What is wrong is left to the plan, which tells all faults at once.

    Args:
        request: What was asked for.
        executor: The name of the executor.
        share: How much of this machine the runs take.
        leaving: Ends the executor at a signal.
    """
    with ExitStack() as stack:

        @cache
        def opened() -> Executor:
            make = plugins.executor(executor)
            slots = local_slots(share.slots, visible_gpus(), share.per_gpu)
            found: Executor = stack.enter_context(make(slots))
            if share.stall:
                found = stack.enter_context(WithoutHangs(found, share.stall))
            if leaving:
                leaving.executor = found
            return found

        faults = Faults()
        parse(request, faults)
        if not faults.found:
            with suppress(UserError):
                opened().warm()
        yield opened
