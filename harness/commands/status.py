"""`harness status`: what runs do now and what went amiss, by their folders or by the store."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import TypeAdapter
from rich.console import Console
from rich.live import Live as Screen
from rich.text import Text

from harness.commands.leaderboard import source
from harness.commands.report import Report, counted
from harness.errors import UserError
from harness.printed import say
from results.errors import ResultsError
from results.leaderboard.values.attempts.at_work import Ended, Running
from results.leaderboard.values.attempts.live import EVERY, Live, LivePage
from results.reports.markdown_table import markdown_table
from results.reports.times import duration, time_of_day
from results.runfolder.state import How
from results.store import LastSeen, Reader, database
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

PAGE = TypeAdapter(LivePage)
"""Reads what the store was told."""


@dataclass(frozen=True)
class Seen:
    """What goes on, and what the store knows of who saw it; None where this command did."""

    page: LivePage
    told: LastSeen | None = None


def status(store_place: str, root: Path) -> Report:
    """Say what goes on below `root`, with the values of the leaderboard's page Now.

    Where there is no such folder, say what the store was told of others.

    Raises:
        UserError: There is no such folder, nor anything told.
    """
    seen = _looking(store_place, root)()
    value = [one.told for one in seen] if seen[0].told else seen[0].page
    return Report(text(seen), value)


def watch(store_place: str, root: Path, pause: Callable[[float], None] = time.sleep) -> None:
    """Keep that on the screen until the process is ended; without a terminal, say what changes.

    Args:
        store_place: The store.
        root: The folder of the run folders.
        pause: Waits for some seconds.

    Raises:
        UserError: There is no such folder, nor anything told.
    """
    look, console = _looking(store_place, root), Console(soft_wrap=True, markup=False, emoji=False)
    if not console.is_terminal:
        before = set[str]()
        while True:
            lines = list(news(look()))
            for line in lines:
                if line not in before:
                    say(f"{time_of_day(time.time())} {line}")
            before = {*lines}
            pause(EVERY)
    with Screen(console=console, auto_refresh=False) as screen:
        while True:
            drawn = Text(visible(text(look())), no_wrap=True, overflow="ellipsis")
            screen.update(drawn, refresh=True)
            pause(EVERY)


def text(seen: Sequence[Seen]) -> str:
    """Write who saw it, the grid in a line, a line for each run at work, the newest failures."""
    return "\n\n".join(part for one in seen for part in _parts(one))


def _parts(seen: Seen) -> Iterator[str]:
    page = seen.page
    if seen.told:
        yield head(seen.told)
    yield grid(page)
    if page.running:
        yield _table([_row(one) for one in page.running])
    if page.amiss:
        yield "\n".join(map(amiss, page.amiss))


def head(told: LastSeen) -> str:
    """Say which host saw which folder, and when; the clock of the host may not be ours."""
    ago = duration(max(0.0, (datetime.now(UTC) - told.time).total_seconds()))
    state = "as its command left it" if told.ended else "seen"
    return f"{_where(told)}: {state} {ago} ago, by the clock of {one_line(told.host)}."


def news(seen: Sequence[Seen]) -> Iterator[str]:
    """Write what is said when it is new: what went amiss, the oldest first, and the grid."""
    for one in seen:
        where = f"{_where(one.told)}: " if one.told else ""
        ended = " Its command has ended." if one.told and one.told.ended else ""
        yield from (where + amiss(each) for each in reversed(one.page.amiss))
        yield where + grid(one.page) + ended


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


def _where(told: LastSeen) -> str:
    return one_line(f"{told.host}, {told.folder}")


def _looking(store_place: str, root: Path) -> Callable[[], list[Seen]]:
    """Give what looks again and again."""
    if not root.is_dir():
        return lambda: _told(store_place, root)
    live = Live(source(store_place, private=True, root=root))
    return lambda: [Seen(live.page())]


def _told(store_place: str, root: Path) -> list[Seen]:
    try:
        told = Reader(store_place).last_seen()
        why = f"{database.name(store_place)} was told of no other."
    except ResultsError as error:
        told, why = [], str(error)
    if not told:
        raise UserError(
            f"There is no folder {root}. --runs names that of the run folders.\n"
            f"  Nor does the store say what runs elsewhere. --store names it: {why}"
        )
    return [Seen(PAGE.validate_python(one.page), one) for one in told]
