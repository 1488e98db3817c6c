"""Makes what visitors will ask for before they do: the tables that groups open with."""

import time
from contextlib import suppress

from results.errors import ResultsError
from results.leaderboard.server.pages import ranking
from results.leaderboard.source import MOST_RUNS, Opened, Source
from results.leaderboard.values.tables import found
from results.leaderboard.view import View

PAUSE = 1.0
"""Seconds between two looks at whether a run was stored."""


def make_ahead(source: Source) -> None:
    """Make the first page, and then the tables of the newest groups; without end."""
    known = None
    while True:
        with suppress(ResultsError):  # every visitor is told
            opened = source.open()
            if (now := opened.store.changed()) != known:
                ranking(source, View())
                make_groups(opened)
                known = now
        time.sleep(PAUSE)


def make_groups(opened: Opened) -> None:
    """Make the tables that groups open with, and leave half of the place to other views."""
    made = 0
    for group in opened.groups:
        if made > MOST_RUNS / 2:
            return
        made += len(found(opened, opened.completed(View(group=group))))
