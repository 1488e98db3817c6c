"""Collecting the faults of a request, so that all of them are reported at once."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from harness.errors import UserError
from tasks.data.files import DataError

T = TypeVar("T")
Part = TypeVar("Part")


class Faults:
    """The faults that were found so far."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, fault: str) -> None:
        """Note a fault."""
        self.found.append(fault)

    def of(self, make: Callable[[], T]) -> T | None:
        """Return what `make` returns; None if it raises a user's mistake, which is noted."""
        try:
            return make()
        except (UserError, DataError) as fault:
            self.add(str(fault))
            return None

    def each(self, make: Callable[[Part], T], parts: Iterable[Part]) -> list[T]:
        """Make something of each part; skip those that raise a user's mistake, and note it."""
        made = []
        for part in parts:
            try:
                made.append(make(part))
            except (UserError, DataError) as fault:
                self.add(str(fault))
        return made

    def raise_if_any(self) -> None:
        """Report all faults in one message, each once: groups of a request may share one.

        Raises:
            UserError: There are any.
        """
        if self.found:
            raise UserError("\n".join(dict.fromkeys(self.found)))
