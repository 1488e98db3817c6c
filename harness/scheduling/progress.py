"""What long work shows: a live table on a terminal, a line for each phase elsewhere.

Workers report by the events file of their run folder; this reads what they append.
"""

import io
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal, TextIO, cast

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from harness.scheduling.repeated import repeated
from harness.scheduling.watched import Watched
from harness.spec.outcome import Status
from results.reports.times import clock, duration, time_of_day
from results.runfolder.folder import RunFolder
from results.texts import one_line, visible

Ending = Literal[Status, "interrupted"]
"""How a run leaves the display. `interrupted`: the user left, and it is to go on."""

DONE: tuple[Ending, ...] = ("finished", "diverged", "failed")
"""What counts as done."""

COLUMNS = ("run", "phase", "clock", "done", "loss", "tokens/s", "left")
"""The last four are the facts of `Watched.describe`."""


class Display:
    """Counts runs and shows those at work."""

    def __init__(self, total: int, console: Console) -> None:
        self.total, self.console = total, console
        self.started = time.monotonic()
        self.ended: Counter[Ending] = Counter()
        self.seconds: list[float] = []
        self._lock = threading.Lock()
        self._runs: dict[str, tuple[Watched, Callable[[], bool]]] = {}

    @property
    def done(self) -> int:
        """How many runs have come to an end that stays."""
        return sum(self.ended[how] for how in DONE)

    def expect(self, folder: RunFolder, name: str, running: Callable[[], bool]) -> None:
        """Show a run from the moment when `running` says that it is at work."""
        with self._lock:
            self._runs[str(folder.path)] = Watched(folder, one_line(name)), running

    def end(self, folder: RunFolder, note: str, how: Ending) -> None:
        """Count a run that ended, and say how; nothing of one that waited when the user left."""
        with self._lock:
            watched, _ = self._runs.pop(str(folder.path))
            if how == "interrupted" and not watched.started:
                return
            self.ended[how] += 1
            if watched.started:  # between two looks, a run may start and end
                self.seconds.append(time.monotonic() - watched.started)
            self._say_phases(watched)
        number = f"[{self.done}/{self.total}] " if how in DONE else ""
        self.say(f"{number}{watched.name}: {note}")

    def note(self, folder: RunFolder, text: str) -> None:
        """Say something of a run that has not ended."""
        with self._lock:
            name = self._runs[str(folder.path)][0].name
        self.say(f"{name}: {text}")

    def say(self, line: str, when: float | None = None) -> None:
        """Print a line; where there is no terminal, with the time of day."""
        stamp = "" if self.console.is_terminal else f"{time_of_day(when or time.time())} "
        self.console.print(f"{stamp}{visible(line)}", highlight=False)

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Keep the display up to date while the work within goes on; leave its sum."""
        try:
            with self._live() if self.console.is_terminal else repeated(self._running, 0.5):
                yield
        finally:
            self.say(f"{self._counted()} in {clock(time.monotonic() - self.started)}")

    def render(self) -> Group:
        """Draw the clock, the counts and the runs at work, no wider than the terminal."""
        running = self._running()
        title = f"{clock(time.monotonic() - self.started)}  {self._counted()}{self._left(running)}"
        drawn = Text(title, no_wrap=True, overflow="ellipsis")
        if not running:
            return Group(drawn)
        table = Table(box=None, padding=(0, 2, 0, 0))
        table.add_column(COLUMNS[0], overflow="fold")
        for column in COLUMNS[1:]:
            table.add_column(column, no_wrap=True, overflow="ellipsis")
        for watched in running:
            facts = watched.describe()
            spent = clock(time.monotonic() - (watched.started or self.started))
            cells = [watched.phase, spent, *(facts.get(key, "") for key in COLUMNS[3:])]
            table.add_row(watched.name, *map(one_line, cells))
        return Group(drawn, table)

    def _counted(self) -> str:
        """Say how many runs have ended, and how many of them otherwise than with a result."""
        others = [f", {count} {how}" for how, count in self.ended.items() if how != "finished"]
        return f"{self.done} of {self.total} runs done{''.join(others)}"

    def _left(self, running: list[Watched]) -> str:
        """Say how long the rest of the grid takes, as far as runs or phases tell."""
        now = time.monotonic()
        spent = [now - (watched.started or now) for watched in running]
        if self.seconds:
            mean = sum(self.seconds) / len(self.seconds)
            word = "about"
        else:
            # Until a run has ended, all that is known is the rest of a phase.
            known = [(watched.left, one) for watched, one in zip(running, spent, strict=True)]
            mean = max((left + one for left, one in known if left is not None), default=0.0)
            word = "at least"
        waiting = self.total - self.ended.total() - len(running)
        left = (sum(max(0.0, mean - one) for one in spent) + waiting * mean) / max(1, len(running))
        return f", {word} {duration(left)} left" if left else ""

    def _running(self) -> list[Watched]:
        """List the runs at work, up to date."""
        with self._lock:
            for watched, running in self._runs.values():
                if watched.started is None and running():
                    watched.started = time.monotonic()
            at_work = [watched for watched, _ in self._runs.values() if watched.started]
            for watched in at_work:
                self._say_phases(watched)
        return at_work

    def _say_phases(self, watched: Watched) -> None:
        """Read what is new of a run; where there is no terminal, say which phases it began."""
        for when, phase in watched.update():
            if not self.console.is_terminal:
                self.say(f"{watched.name}: {phase}", when)

    @contextmanager
    def _live(self) -> Iterator[None]:
        # Transient: what stays on the screen is how each run ended, and the sum.
        with Live(
            get_renderable=self.render,
            console=self.console,
            refresh_per_second=2,
            transient=True,
        ):
            yield


@contextmanager
def waiting(what: str, console: Console) -> Iterator[None]:
    """Show on a terminal what the work within is, with a clock, and leave nothing behind."""
    if not console.is_terminal:
        yield
        return
    started = time.monotonic()
    with Live(
        get_renderable=lambda: Text(f"{clock(time.monotonic() - started)}  {what}"),
        console=console,
        refresh_per_second=2,
        transient=True,
    ):
        yield


def console() -> Console:
    """Return the console that progress goes to: standard error, so that output can be piped.

    Without markup: labels such as `lora[r=64]` and reasons with paths in brackets are no markup.
    """
    file = cast("TextIO", Heard(sys.stderr))
    return Console(file=file, soft_wrap=True, markup=False, emoji=False)


class Heard(io.TextIOBase):
    """A stream whose reader may be gone, such as a terminal that was closed: the work goes on."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write if somebody reads."""
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Write what is kept back, if somebody reads."""
        with suppress(OSError):
            self._stream.flush()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        return self._stream.isatty()

    def fileno(self) -> int:
        """Give its number, by which a terminal's width is asked for."""
        return self._stream.fileno()

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Name the encoding that decides which characters frames are drawn with."""
        return self._stream.encoding
