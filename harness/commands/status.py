"""`harness status`: what the runs of a folder do now, and what went amiss."""

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from rich.console import Console
from rich.live import Live as Screen
from rich.text import Text

from harness.commands.leaderboard import source
from harness.commands.report import Report, counted
from harness.errors import UserError
from harness.printed import say
from results.leaderboard.values.attempts.at_work import Ended, Running
from results.leaderboard.values.attempts.live import EVERY, Live, LivePage
from results.reports.markdown_table import markdown_table
from results.reports.times import time_of_day
from results.runfolder.state import How
from results.texts import brief, one_line, visible

NOT_DONE: tuple[How, ...] = (
    *("running", "waiting", "failed", "diverged"),
    *("interrupted", "cancelled", "lost"),
)
"""What is said of runs that are not done, where there are some."""

COLUMNS = {
    "id": "l",
    "run": "l",
    "phase": "l",
    "done": "r",
    "loss": "r",
    "tokens/s": "r",
    "memory": "r",
    "left": "l",
    "notes": "l",
}
"""Of runs at work, with their alignment; those of which nothing is known are left out."""

SHOWN = ("phase", "done", "loss", "speed", "memory")
DIGITS = 8
"""Of an id: enough for any command to find the run."""


def status(store_place: str, root: Path) -> Report:
    """Say what goes on below `root`, with the values of the leaderboard's page Now.

    Raises:
        UserError: There is no such folder.
    """
    page = _live(store_place, root).page()
    return Report(text(page), page)


def watch(store_place: str, root: Path, pause: Callable[[float], None] = time.sleep) -> None:
    """Keep that on the screen until the process is ended; without a terminal, say what changes.

    Args:
        store_place: The store.
        root: The folder of the run folders.
        pause: Waits for some seconds.

    Raises:
        UserError: There is no such folder.
    """
    live, console = _live(store_place, root), Console(soft_wrap=True, markup=False, emoji=False)
    if not console.is_terminal:
        before = None
        while True:
            page = live.page()
            for line in news(before, page):
                say(f"{time_of_day(time.time())} {line}")
            before = page
            pause(EVERY)
    with Screen(console=console, auto_refresh=False) as screen:
        while True:
            drawn = Text(visible(text(live.page())), no_wrap=True, overflow="ellipsis")
            screen.update(drawn, refresh=True)
            pause(EVERY)


def text(page: LivePage) -> str:
    """Write the grid in a line, a line for each run at work, and the newest failures."""
    parts = [grid(page)]
    if page.running:
        parts.append(_table([_row(one) for one in page.running]))
    if page.amiss:
        parts.append("\n".join(map(amiss, page.amiss)))
    return "\n\n".join(parts)


def news(before: LivePage | None, page: LivePage) -> Iterator[str]:
    """Say what is new of the grid, and what went amiss meanwhile, the oldest first."""
    known = set(map(amiss, before.amiss)) if before else set()
    yield from (line for line in map(amiss, reversed(page.amiss)) if line not in known)
    if before is None or before.counts != page.counts:
        yield grid(page)


def grid(page: LivePage) -> str:
    """Count runs in one line.

    >>> grid(LivePage(True, (), 0, (), (), {"finished": 3, "failed": 1, "forgotten": 1}))
    '3 of 4 runs done, 1 failed; 1 run is forgotten.'
    """
    counts = dict(page.counts)
    forgotten = counts.pop("forgotten", 0)
    told = [f"{counts[how]} {how}" for how in NOT_DONE if how in counts]
    done = f"{counts.get('finished', 0)} of {counted(sum(counts.values()), 'run', 'runs')} done"
    besides = f"; {counted(forgotten, 'run is', 'runs are')} forgotten" if forgotten else ""
    return f"{', '.join([done, *told])}{besides}."


def amiss(one: Ended) -> str:
    """Write in one line which run ended how, and why."""
    return f"{one.run[:DIGITS]} {one.how}, {one_line(one.text)}: {brief(one.reason)}"


def _table(rows: Sequence[Sequence[str]]) -> str:
    """Lay the runs at work out, one line each however long it is."""
    known = [place for place, column in enumerate(zip(*rows, strict=True)) if any(column)]
    names = [list(COLUMNS)[place] for place in known]
    align = "".join(COLUMNS[name] for name in names)
    return markdown_table(names, [[row[place] for place in known] for row in rows], align)


def _row(one: Running) -> list[str]:
    left = one.shown["left"] or (one.shown["phase_left"] and f"{one.shown['phase_left']} of phase")
    cells = (one.shown[name] for name in SHOWN)
    return [one.run[:DIGITS], one.text, *cells, left, one.shown["notes"]]


def _live(store_place: str, root: Path) -> Live:
    if not root.is_dir():
        raise UserError(f"There is no folder {root}. --runs names that of the run folders.")
    return Live(source(store_place, private=True, root=root))
