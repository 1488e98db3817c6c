"""A run that another process has, as this one sees it: at work, ended, or free to be taken over."""

import time
from collections.abc import Callable
from typing import Literal

from results.runfolder import attempts
from results.runfolder.claims import STALE
from results.runfolder.folder import AlreadyRunningError, RunFolder, RunFolderError

Seen = Literal["at work", "ended", "free"]


class Held:
    """Looks at a run folder again and again.

    An attempt of another machine is given up after `STALE` seconds of the same beat, as this
    process counts them: no clock of another machine enters, and no change of our own.

    Args:
        folder: Of the run.
        clock: Gives seconds that only ever grow.
    """

    def __init__(self, folder: RunFolder, clock: Callable[[], float] = time.monotonic) -> None:
        self.folder, self._clock = folder, clock
        self._beat: tuple[int, int] | None = None
        self._since = 0.0

    def look(self) -> Seen:
        """Say what is going on; give an attempt up whose beat has not changed for long.

        A run of which something is damaged is free: the worker that begins it sets that aside.
        """
        if not self.folder.path.is_dir():
            return "free"
        try:
            with self.folder.locked():
                attempts.set_aside(self.folder)
                return "ended" if self.folder.ended else self._unlocked()
        except AlreadyRunningError:
            return "at work"
        except RunFolderError:
            return "free"

    def _unlocked(self) -> Seen:
        attempt = attempts.last(self.folder)
        if attempt is None or not attempts.may_go_on(self.folder, attempt):
            return "free"
        beat = (attempt.number, attempt.beat)
        if beat != self._beat:
            self._beat, self._since = beat, self._clock()
        if self._clock() - self._since < STALE:
            return "at work"
        attempts.lose(self.folder, attempt)
        return "free"
