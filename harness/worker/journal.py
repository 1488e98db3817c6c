"""Reports the progress of a run: phases and their seconds, steps, validations."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any

from harness.worker.machine import device
from results.runfolder.events import EventLog
from results.runfolder.values import Event


class Journal:
    """Appends events to the file at `path`; keeps the seconds and the memory of each phase.

    Args:
        path: Of the events.
        meter: Gives the most memory since it was last asked, by kind; nothing where none tells.
        clock: Gives seconds; how many passed is all that counts.
        told: Gets each event.
    """

    def __init__(
        self,
        path: Path,
        meter: Callable[[], Mapping[str, int]] = dict,
        clock: Callable[[], float] = time.perf_counter,
        told: Callable[[Event], None] = lambda event: None,
    ) -> None:
        self._log, self._meter, self._clock, self._told = EventLog(path), meter, clock, told
        self._measured, self._lock = clock(), threading.Lock()
        self._before: dict[str, float] = {}
        self._outer: list[dict[str, Any]] = []
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.peak_memory: defaultdict[str, dict[str, int]] = defaultdict(dict)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self._log.close()

    def write(self, **facts: Any) -> None:
        """Append one event; the facts are fields of `Event`, its time is now unless they say."""
        event = Event(**{"time": now(), **facts})
        self._log.append(event)
        self._told(event)

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
        try:
            yield
        finally:
            self._measure()
            self._outer.pop()
            if self._outer:
                self.write(**self._outer[-1])

    def so_far(self) -> dict[str, float]:
        """Return the seconds of each phase, those at work included; from any thread."""
        with self._lock:
            measured, self._measured = self._measured, self._clock()
            if self._outer:
                self.seconds[self._outer[-1]["phase"]] += self._measured - measured
            return dict(self.seconds)

    @property
    def before(self) -> float:
        """Seconds that earlier attempts spent on what this one went on with."""
        return sum(self._before.values())

    def total(self) -> dict[str, float]:
        """Return the seconds of each phase, with those of earlier attempts."""
        seconds = self.so_far()
        for name, before in self._before.items():
            seconds[name] = seconds.get(name, 0.0) + before
        return seconds

    def spent(self, phases: Collection[str]) -> dict[str, Any]:
        """Return what some phases have taken in total, seconds and memory, as JSON values."""
        self._measure()
        seconds, peaks = self.total(), self.peak_memory
        return {
            "seconds": {name: seconds[name] for name in phases if name in seconds},
            "peak_memory": {name: peaks[name] for name in phases if name in peaks},
        }

    def go_on(self, spent: Mapping[str, Any]) -> None:
        """Count what earlier attempts spent on some phases, as `spent` returned it there."""
        self._before |= spent["seconds"]
        for name, peaks in spent["peak_memory"].items():
            self._credit(name, peaks)

    def take_most(
        self, phases: Collection[str], most: Callable[[Sequence[int]], Sequence[int]]
    ) -> None:
        """Put the memory of some phases up to the most that any process of the run held.

        Args:
            phases: Which all processes had.
            most: Gives the largest numbers of all processes, place by place.
        """
        self._measure()
        places = list(product(phases, device.KINDS))
        own = [self.peak_memory.get(phase, {}).get(kind, 0) for phase, kind in places]
        for (phase, kind), peak in zip(places, most(own), strict=True):
            if peak:
                self._credit(phase, {kind: peak})

    def _measure(self) -> None:
        """Credit time and memory since the last call to the phase at work."""
        self.so_far()
        peaks = self._meter()
        if self._outer:
            self._credit(self._outer[-1]["phase"], peaks)

    def _credit(self, phase: str, peaks: Mapping[str, int]) -> None:
        for kind, peak in peaks.items():
            kept = self.peak_memory[phase]
            kept[kind] = max(peak, kept.get(kind, 0))


def now() -> float:
    """Return the time of an event."""
    return round(time.time(), 3)
