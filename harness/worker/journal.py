"""Reports the progress of a run: phases and their seconds, steps, validations."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from results.runfolder.events import EventLog
from results.runfolder.values import Event


class Journal:
    """Appends events to the file at `path`; keeps the seconds and the memory of each phase.

    Args:
        path: Of the events.
        meter: Gives the most memory since it was last asked, by kind; nothing where none tells.
    """

    def __init__(self, path: Path, meter: Callable[[], Mapping[str, int]] = dict) -> None:
        self._log, self._meter = EventLog(path), meter
        self._outer: list[dict[str, Any]] = []
        self._open: list[tuple[str, float]] = []
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.peak_memory: defaultdict[str, dict[str, int]] = defaultdict(dict)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self._log.close()

    def write(self, **facts: Any) -> None:
        """Append one event; the facts are fields of `Event`, its time is now unless they say."""
        self._log.append(Event(**{"time": now(), **facts}))

    def so_far(self) -> dict[str, float]:
        """Return the seconds of each phase, those at work included; from any thread."""
        seconds, end = dict(self.seconds), time.perf_counter()
        for name, start in reversed(self._open.copy()):
            seconds[name] = seconds.get(name, 0.0) + end - start
            end = start
        return seconds

    @contextmanager
    def phase(self, name: str, **facts: Any) -> Iterator[None]:
        """Measure a phase; what a phase within it takes does not count for it.

        Args:
            name: By which its seconds are added up.
            facts: What else its event says, such as the benchmark.
        """
        self._measure()
        begun = {"phase": name, **facts}
        self.write(**begun)
        self._outer.append(begun)
        start = time.perf_counter()
        self._open.append((name, start))
        try:
            yield
        finally:
            spent = time.perf_counter() - start
            self._open.pop()
            self._measure()
            self._outer.pop()
            self.seconds[name] += spent
            if self._outer:
                self.seconds[self._outer[-1]["phase"]] -= spent
                self.write(**self._outer[-1])

    def _measure(self) -> None:
        """Credit the memory since the last call to the phase at work."""
        for kind, peak in self._meter().items():
            if self._outer:
                kept = self.peak_memory[self._outer[-1]["phase"]]
                kept[kind] = max(peak, kept.get(kind, 0))


def now() -> float:
    """Return the time of an event."""
    return round(time.time(), 3)
