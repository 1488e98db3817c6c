"""Storing how runs ended, now or later: a store that is busy or away costs no run."""

import time
from collections import deque
from collections.abc import Callable, Sequence

from results.errors import ResultsError
from results.record import Run, Verdicts
from results.runfolder.folder import RunFolder
from results.runfolder.record_of import record_of
from results.runfolder.verdicts_of import verdicts_of
from results.store import Store

PAUSE = 10.0
"""Seconds between two tries."""

PATIENCE = 600.0
"""Seconds after the last run within which the store may come back."""


class Keeper:
    """Adds ended attempts to the store as they end; what it refuses waits and is tried again.

    Args:
        store: Where they go.
        say: Tells the user a sentence.
    """

    def __init__(self, store: Store, say: Callable[[str], None]) -> None:
        self.store, self._say = store, say
        self._waiting: deque[tuple[Run, Sequence[Verdicts]]] = deque()
        self._tried, self._said = 0.0, ""

    @property
    def waiting(self) -> int:
        """How many attempts are whole in their folders and not in the store yet."""
        return len(self._waiting)

    def keep(self, folder: RunFolder) -> Run:
        """Store how the attempt in a folder ended, or let it wait; return the record."""
        record = record_of(folder)
        assert record is not None
        self._waiting.append((record, verdicts_of(folder)))
        if self.waiting == 1:
            self._try()
        return record

    def again(self) -> None:
        """Try what waits, if the last try was a while ago."""
        if self._waiting and time.monotonic() - self._tried > PAUSE:
            self._try()

    def rest(self) -> None:
        """Wait for the store as long as there is hope."""
        end = time.monotonic() + PATIENCE
        while self._waiting and time.monotonic() < end:
            time.sleep(min(1.0, PAUSE))
            self.again()

    def _try(self) -> None:
        try:
            while self._waiting:
                self.store.add(*self._waiting[0])
                self._waiting.popleft()
        except ResultsError as error:
            self._waiting.rotate(-1)  # what is refused for good keeps nothing else out
            cause = str(error).splitlines()[0]
            sentence = f"{_counted(self.waiting)} in the run folders for the store: {cause}"
            if sentence != self._said:
                self._say(sentence)
            self._said = sentence
        else:
            if self._said:
                self._say("The store has taken what waited.")
            self._said = ""
        self._tried = time.monotonic()


def _counted(waiting: int) -> str:
    return f"{waiting} outcome waits" if waiting == 1 else f"{waiting} outcomes wait"
