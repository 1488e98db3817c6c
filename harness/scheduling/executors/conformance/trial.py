"""What a check works with: acts to submit, and outcomes that are waited for a limited time."""

import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue

from harness.scheduling.executors.conformance.stand_in import BESIDE, COMMAND, SECONDS
from harness.scheduling.executors.contract import Executor, Job, Outcome
from harness.scheduling.slots import Slot
from results.runfolder.folder import AlreadyRunningError, RunFolder

Make = Callable[[Sequence[Slot], Sequence[str]], Executor]
"""Makes an executor from slots and the command that starts a worker.

The command reads folders from standard input, or runs the folder that it is given.
"""


@contextmanager
def trial(make: Make, slots: int) -> Iterator["Trial"]:
    """Open an executor over some slots, for folders in a temporary place."""
    # A wrong executor may leave runs that still write; they end when their folders are gone.
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place,
        make([Slot(threads=1)] * slots, COMMAND) as executor,
    ):
        yield Trial(Path(place), executor)


class Trial:
    """An executor at work on acts."""

    def __init__(self, place: Path, executor: Executor) -> None:
        self.place, self.executor = place, executor
        self._folders: list[RunFolder] = []
        self._outcomes: SimpleQueue[Outcome | None] = SimpleQueue()
        self._reader: threading.Thread | None = None

    def submit(self, *acts: str) -> Job:
        """Submit a job with a run for each act."""
        job = Job(tuple(map(self.folder, acts)))
        self.executor.submit(job)
        return job

    def next(self) -> Outcome | None:
        """Return the next outcome, None at their end.

        Another thread reads them, so that a check fails instead of waiting without end.
        """
        self.read()
        try:
            outcome = self._outcomes.get(timeout=SECONDS)
        except Empty:
            raise AssertionError(f"there was no outcome within {SECONDS} seconds") from None
        if outcome is None:
            self._reader = None
        return outcome

    def read(self) -> None:
        """Begin to read the outcomes, if nobody does."""
        if not self._reader:
            self._reader = threading.Thread(target=self._read, daemon=True)
            self._reader.start()

    def rest(self) -> list[Outcome]:
        """Return the outcomes that are left, once the last one is there."""
        return list(iter(self.next, None))

    def reached(self, *names: str) -> None:
        """Wait until acts have reached points."""
        self.until(
            lambda: all((self.place / n).exists() for n in names), f"{names} were not reached"
        )

    def let(self, name: str) -> None:
        """Let the acts go on that wait for a name."""
        (self.place / name).touch()

    def order(self) -> list[str]:
        """Return the names of the runs that noted their overlap, in the order of their start."""
        return (self.place / "order").read_text().split()

    @staticmethod
    def until(true: Callable[[], bool], otherwise: str) -> None:
        """Wait for something that is bound to happen."""
        end = time.monotonic() + SECONDS
        while not true():
            assert time.monotonic() < end, otherwise
            time.sleep(0.01)

    def folder(self, act: str) -> RunFolder:
        """Make a run folder for an act."""
        folder = RunFolder(self.place / str(len(self._folders)))
        folder.path.mkdir()
        (folder.path / "act.py").write_text(act)
        (folder.path / BESIDE).write_text(str(self.place))
        self._folders.append(folder)
        return folder

    def _read(self) -> None:
        try:
            for outcome in self.executor.outcomes():
                self._outcomes.put(outcome)
        finally:
            self._outcomes.put(None)


def statuses(outcomes: Sequence[Outcome], job: Job) -> list[str]:
    """Return the statuses of a job's runs, in the order of the job."""
    found = {outcome.folder.path: outcome.status for outcome in outcomes}
    return [found.get(folder.path, "no outcome") for folder in job.folders]


def reason(folder: RunFolder) -> str:
    """Return why the run of a folder failed; empty without a failure record."""
    failure = folder.failure()
    return failure.reason if failure else ""


def at_work(folder: RunFolder) -> bool:
    """Whether a process works in a folder."""
    # The kernel takes a moment to release what a process held that has just ended.
    end = time.monotonic() + 1
    while time.monotonic() < end:
        with suppress(AlreadyRunningError), folder.locked():
            return False
        time.sleep(0.01)
    return True
