"""Collecting the faults of a request, so that all of them are reported at once."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from harness.errors import UserError
from harness.planning.grid_file import COMMAND_LINE, Origin
from tasks.data.files import DataError

T = TypeVar("T")
Part = TypeVar("Part")


class Faults:
    """The faults that were found so far.

    Args:
        origin: Where the words of the request stand; a fault says where the wrong one does.
    """

    def __init__(self, origin: Origin = COMMAND_LINE) -> None:
        self.origin = origin
        self.found = [*origin.faults]

    def add(self, fault: str, key: str = "", word: str = "") -> None:
        """Note a fault: of a key of the request, and of a word of its value."""
        self.found.append(self.origin.told(key, word) + fault)

    def of(self, make: Callable[[], T], key: str = "", word: str = "") -> T | None:
        """Return what `make` returns; None if it raises a user's mistake, which is noted."""
        try:
            return make()
        except (UserError, DataError) as fault:
            self.add(str(fault), key, word)
            return None

    def each(self, make: Callable[[Part], T], parts: Iterable[Part], key: str = "") -> list[T]:
        """Make something of each part; skip those that raise a user's mistake, and note it."""
        made = []
        for part in parts:
            try:
                made.append(make(part))
            except (UserError, DataError) as fault:
                self.add(str(fault), key, str(part))
        return made

    def raise_if_any(self) -> None:
        """Report all faults in one message, each once: groups of a request may share one.

        Raises:
            UserError: There are any.
        """
        if self.found:
            raise UserError("\n".join(dict.fromkeys(self.found)))
