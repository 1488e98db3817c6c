"""Telling the store what runs do, for `harness status` where their folders are not seen."""

import json
import platform
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from results.errors import ResultsError
from results.store import LastSeen, Store

EVERY = 10.0
"""Seconds between two times."""

PATIENCE = 3.0
"""Seconds that a command waits at its end for a store that is busy."""


@contextmanager
def telling(store: Store, place: str, root: Path, every: float = EVERY) -> Iterator[None]:
    """Tell the store again and again what `harness status` says, and once more at the end.

    A store that is away or busy is passed over in silence.

    Args:
        store: The store.
        place: Where it is.
        root: The whole path of the folder of the run folders.
        every: Seconds between two times, and before the first.
    """
    over = threading.Event()
    given = (store, place, root, every, over)
    thread = threading.Thread(target=_tell, args=given, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(PATIENCE)


def _tell(store: Store, place: str, root: Path, every: float, over: threading.Event) -> None:
    ended = over.wait(every)
    # Not at the top: the first runs start while these would be imported.
    from harness.commands.leaderboard import source  # noqa: PLC0415
    from results.leaderboard.values.attempts.live import Live  # noqa: PLC0415
    from results.reports.to_json import to_json  # noqa: PLC0415

    live = Live(source(place, private=True, root=root), every=0.0)
    while True:
        with suppress(OSError, ResultsError):
            page = json.loads(to_json(live.page()))
            store.saw(LastSeen(platform.node(), str(root), datetime.now(UTC), ended, page))
        if ended:
            return
        ended = over.wait(every)
