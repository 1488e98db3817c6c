"""Reports the progress of a run: phases and their seconds, steps, validations."""

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from results.runfolder.events import EventLog
from results.runfolder.values import Event


class Journal:
    """Appends events to the file at `path`, and adds up the seconds of each phase."""

    def __init__(self, path: Path) -> None:
        self._log = EventLog(path)
        self._outer: list[dict[str, Any]] = []
        self.seconds: defaultdict[str, float] = defaultdict(float)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self._log.close()

    def write(self, **facts: Any) -> None:
        """Append one event with its time; the facts are fields of `Event`."""
        self._log.append(Event(time=round(time.time(), 3), **facts))

    @contextmanager
    def phase(self, name: str, **facts: Any) -> Iterator[None]:
        """Time a phase; the time of a phase within it does not count for it.

        Args:
            name: By which its seconds are added up.
            facts: What else its event says, such as the benchmark.
        """
        begun = {"phase": name, **facts}
        self.write(**begun)
        self._outer.append(begun)
        start = time.perf_counter()
        try:
            yield
        finally:
            spent = time.perf_counter() - start
            self._outer.pop()
            self.seconds[name] += spent
            if self._outer:
                self.seconds[self._outer[-1]["phase"]] -= spent
                self.write(**self._outer[-1])
