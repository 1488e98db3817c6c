"""The executor of a command: built when something is to be run, closed with the command."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from harness import plugins
from harness.commands.leaving import Leaving
from harness.commands.report import counted
from harness.errors import UserError
from harness.scheduling.executors.contract import Executor
from harness.scheduling.hangs import WithoutHangs
from harness.scheduling.slots import local_slots, visible_gpus


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


class Opened:
    """The executor of a name, over a share of this machine."""

    def __init__(
        self, name: str, share: Share, stack: ExitStack, leaving: Leaving | None = None
    ) -> None:
        self._name, self.share, self._stack, self._leaving = name, share, stack, leaving

    @cached_property
    def make(self) -> Callable[..., Any]:
        """What builds it.

        Raises:
            UserError: There is no executor of this name.
        """
        found: Callable[..., Any] = plugins.executor(self._name)
        return found

    @cached_property
    def executor(self) -> Executor:
        """The executor itself; raises as `make` does."""
        share = self.share
        slots = local_slots(share.slots, visible_gpus(), share.per_gpu)
        found: Executor = self._stack.enter_context(self.make(slots))
        if share.stall:
            found = self._stack.enter_context(WithoutHangs(found, share.stall))
        if self._leaving:
            self._leaving.executor = found
        return found

    def warm(self) -> None:
        """Let it get ready, if there is one; a plan tells what is wrong."""
        with suppress(UserError):
            self.executor.warm()


@contextmanager
def started(executor: str, share: Share, leaving: Leaving | None = None) -> Iterator[Opened]:
    """Give an executor that is closed when the block ends, if it was needed.

    Args:
        executor: Its name.
        share: How much of this machine the runs take.
        leaving: Ends the executor at a signal.
    """
    with ExitStack() as stack:
        yield Opened(executor, share, stack, leaving)
