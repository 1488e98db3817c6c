"""The executor of a command: built when something is to be run, closed with the command."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from typing import Any

from harness import plugins
from harness.commands.leaving import Leaving
from harness.errors import UserError
from harness.scheduling.executors.contract import Executor
from harness.scheduling.hangs import WithoutHangs
from harness.scheduling.resources import Resources

HERE = "local"
"""The executor whose runs run on this machine."""


class Opened:
    """The executor of a name, over what runs take.

    Attributes:
        resources: What runs take; to be changed before `executor` is asked for.
    """

    def __init__(
        self,
        name: str,
        resources: Resources,
        stack: ExitStack,
        leaving: Leaving | None = None,
        stall: float | None = None,
        options: Mapping[str, object] | None = None,
    ) -> None:
        self._name, self.resources, self._stack, self._leaving = name, resources, stack, leaving
        self._stall, self._options = stall, options or {}

    @property
    def here(self) -> bool:
        """Whether runs run on this machine: its GPUs are those of the runs then."""
        return self._name == HERE

    def leaves(self) -> bool:
        """Whether a signal has asked to leave."""
        return self._leaving is not None and self._leaving.status is not None

    @cached_property
    def make(self) -> Callable[..., Any]:
        """What builds it.

        Raises:
            UserError: There is no executor of this name, or it does not take one of the options.
        """
        found: Callable[..., Any] = plugins.executor(self._name)
        check(self._name, found, self._options)
        return found

    @cached_property
    def executor(self) -> Executor:
        """The executor itself; raises as `make` does, or `UserError` if it cannot run."""
        made = self.make(self.resources, **self._options)
        found: Executor = self._stack.enter_context(made)
        if self._stall:
            found = self._stack.enter_context(WithoutHangs(found, self._stall))
        if self._leaving:
            self._leaving.executor = found
        return found

    def warm(self) -> None:
        """Let it get ready, if there is one; a plan tells what is wrong."""
        with suppress(UserError):
            self.executor.warm()


def check(name: str, make: Callable[..., Any], options: Mapping[str, object]) -> None:
    """Refuse options that an executor does not take.

    Raises:
        UserError: It does not take one of them.
    """
    taken = inspect.signature(make).parameters
    if wrong := [one for one in options if one not in taken]:
        words = " ".join(f"--{one}" for one in wrong)
        raise UserError(
            f"{words}: not for --executor {name}. --address is for ray; --partition, --account and "
            "--time are for slurm."
        )


@contextmanager
def started(
    executor: str,
    resources: Resources,
    leaving: Leaving | None = None,
    stall: float | None = None,
    options: Mapping[str, object] | None = None,
) -> Iterator[Opened]:
    """Give an executor that is closed when the block ends, if it was needed.

    Args:
        executor: Its name.
        resources: What runs take.
        leaving: Ends the executor at a signal.
        stall: The seconds after which a run that has told nothing new is ended; never if None.
        options: Those of the executor alone, by name.
    """
    with ExitStack() as stack:
        yield Opened(executor, resources, stack, leaving, stall, options)
