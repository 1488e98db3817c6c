"""A clock of the seconds in which this process could work."""

import threading
import time
from collections.abc import Callable

TICK, STOPPED = 0.25, 2.0
"""Seconds between two looks at the time; from how many on the process was stopped in between."""


class Clock:
    """Stands still while the process is stopped, by SIGSTOP or with its machine.

    In a `with` block a thread looks at the time again and again. Where two looks are far apart,
    the process did not run in between.

    Args:
        now: The seconds of the machine.
    """

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self._now, self._looked, self._stopped = now, now(), 0.0
        self._lock, self._left = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> "Clock":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._left.set()
        self._thread.join()

    def seconds(self) -> float:
        """Return the seconds so far, less those in which the process was stopped."""
        with self._lock:
            now = self._now()
            gap = now - self._looked
            if gap >= STOPPED:
                self._stopped += gap
            self._looked = now
            return now - self._stopped

    def _look(self) -> None:
        while not self._left.wait(TICK):
            self.seconds()
