"""What long work shows: a live table on a terminal, plain lines elsewhere.

Workers report by the events file of their run folder; this reads what they append.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.live import Live
from rich.table import Table

from results.runfolder.events import read_new
from results.runfolder.folder import RunFolder
from results.runfolder.values import Event

PLAIN_SECONDS = 15
"""How often plain output says how far a run is."""


NOTHING = Event(time=0.0)
"""What is known before the first event."""


@dataclass
class Watched:
    """A run, as far as its events tell.

    Attributes:
        since: When it was put up; earlier events are of an earlier attempt.
        started: When it was first seen at work; None before.
    """

    folder: RunFolder
    name: str
    since: float = field(default_factory=time.time)
    started: float | None = None
    offset: int = 0
    latest: Event = NOTHING
    first_step: Event | None = None

    def update(self) -> None:
        """Read the events that are new since the last look."""
        events, self.offset = read_new(self.folder.events, self.offset)
        for event in events:
            if event.time < self.since - 1:
                continue
            if event.phase:
                self.latest, self.first_step = event, None
            else:
                self.latest = self.latest.model_copy(update=event.model_dump(exclude_none=True))
            if event.tokens is not None and self.first_step is None:
                self.first_step = event

    @property
    def phase(self) -> str:
        """What the run is doing."""
        return self.latest.phase or "start"

    def describe(self) -> dict[str, str]:
        """Say how far the phase is: place, loss, speed and time left."""
        event, first = self.latest, self.first_step
        if not event.of:
            return {}
        done = event.done if event.step is None else event.step
        facts = {"done": f"{event.benchmark or 'step'} {done}/{event.of}"}
        if event.loss is not None:
            facts["loss"] = f"{event.loss:.3f}"
        spent = event.time - first.time if first else 0
        if first and spent:
            tokens, steps = (event.tokens or 0) - (first.tokens or 0), event.step or 0
            facts["tokens/s"] = f"{tokens / spent:,.0f}"
            left = spent / (steps - (first.step or 0)) * (event.of - steps)
            facts["left"] = duration(left)
        return facts


class Display:
    """Counts runs and shows those at work."""

    def __init__(self, total: int, console: Console) -> None:
        self.total, self.console = total, console
        self.done = self.failed = 0
        self.seconds: list[float] = []
        self._lock = threading.Lock()
        self._runs: dict[str, tuple[Watched, Callable[[], bool]]] = {}

    def expect(self, folder: RunFolder, name: str, running: Callable[[], bool]) -> None:
        """Show a run from the moment when `running` says that it is at work."""
        with self._lock:
            self._runs[str(folder.path)] = Watched(folder, name), running

    def end(self, folder: RunFolder, note: str, failed: bool) -> None:
        """Count a run that ended, and say how."""
        with self._lock:
            watched, _ = self._runs.pop(str(folder.path))
            self.done, self.failed = self.done + 1, self.failed + failed
            # Between two looks, a run may start and end.
            self.seconds.append(time.time() - watched.started if watched.started else 0.0)
        self.console.print(f"[{self.done}/{self.total}] {watched.name}: {note}", highlight=False)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Keep the display up to date while the work within goes on."""
        if self.console.is_terminal:
            with Live(get_renderable=self.render, console=self.console, refresh_per_second=2):
                yield
            return
        stop = threading.Event()
        thread = threading.Thread(target=self._print_lines, args=(stop,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def render(self) -> Table:
        """Draw the runs at work."""
        running = self._running()
        table = Table(
            title=self._title(len(running)), title_justify="left", box=None, padding=(0, 2, 0, 0)
        )
        for column in ("run", "phase", "done", "loss", "tokens/s", "left"):
            table.add_column(column)
        for watched in running:
            facts = watched.describe()
            cells = [facts.get(key, "") for key in ("done", "loss", "tokens/s", "left")]
            table.add_row(watched.name, watched.phase, *cells)
        return table

    def _title(self, running: int) -> str:
        title = f"{self.done} of {self.total} runs done"
        if self.failed:
            title += f", {self.failed} failed"
        if self.seconds and self.done < self.total:
            # Runs at work are on average half done.
            mean = sum(self.seconds) / len(self.seconds)
            left = mean * (self.total - self.done - running / 2) / max(1, running)
            title += f", about {duration(left)} left"
        return title

    def _running(self) -> list[Watched]:
        """List the runs at work, up to date."""
        with self._lock:
            runs = list(self._runs.values())
        for watched, running in runs:
            if watched.started is None and running():
                watched.started = time.time()
        at_work = [watched for watched, _ in runs if watched.started]
        for watched in at_work:
            watched.update()
        return at_work

    def _print_lines(self, stop: threading.Event) -> None:
        said: dict[str, tuple[str, float]] = {}
        while not stop.wait(0.5):
            for watched in self._running():
                phase, when = said.get(watched.name, ("", 0.0))
                if phase != watched.phase or time.time() - when > PLAIN_SECONDS:
                    said[watched.name] = (watched.phase, time.time())
                    facts = (f"{key} {value}" for key, value in watched.describe().items())
                    line = ", ".join([watched.phase, *facts])
                    self.console.print(f"{watched.name}: {line}", highlight=False)


def duration(seconds: float) -> str:
    """Write seconds for a reader.

    >>> duration(42), duration(200), duration(9000)
    ('42 s', '3 min', '2.5 h')
    """
    for unit, digits, name in ((3600, 1, "h"), (60, 0, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.{digits}f} {name}"
    return f"{seconds:.0f} s"


def console() -> Console:
    """Return the console that progress goes to: standard error, so that output can be piped.

    Without markup: labels such as `lora[r=64]` and reasons with paths in brackets are no markup.
    """
    return Console(file=sys.stderr, soft_wrap=True, markup=False, emoji=False)
