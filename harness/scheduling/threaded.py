"""What executors share that follow their jobs in threads of their own."""

import threading
from abc import abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence

from harness.scheduling.executors.contract import ClosedError, Executor, Job, Outcome, State


class ThreadedExecutor(Executor):
    """Keeps the jobs that wait, the states of all, and the outcomes until they are read."""

    def __init__(self) -> None:
        self._changed = threading.Condition()  # guards what follows
        self._closed = False
        self._stopping = False  # what is submitted from now on is cancelled
        self._fault: Exception | None = None
        self._waiting: deque[Job] = deque()
        self._cancelled: set[Job] = set()
        self._states: dict[Job, State] = {}
        self._left: dict[Job, int] = {}  # runs that have no outcome yet
        self._unread: deque[Outcome] = deque()

    def submit(self, job: Job) -> None:
        """Put a job behind those that wait, and see that a thread takes it."""
        with self._changed:
            if self._closed:
                raise ClosedError
            self._waiting.append(job)
            self._states[job], self._left[job] = "waiting", len(job.folders)
            if self._stopping:
                self.cancel(job)
            else:
                self._serve_more()
            self._changed.notify_all()

    @abstractmethod
    def _serve_more(self) -> None:
        """Start a thread that takes what waits, if one more is of use."""

    def outcomes(self) -> Iterator[Outcome]:
        """Yield outcomes as runs end."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._unread or self._fault or not self._left)
                if not self._unread:
                    break
                outcome = self._unread.popleft()
            yield outcome
        if self._fault:
            raise self._fault

    def state(self, job: Job) -> State:
        """Say how far a job is, as was last learnt."""
        with self._changed:
            return self._states[job]

    def _drop(self, job: Job) -> None:
        """Cancel a job that waits."""
        self._waiting.remove(job)
        self._conclude(job, [Outcome(folder, "cancelled") for folder in job.folders])

    def _conclude(self, job: Job, outcomes: Sequence[Outcome]) -> None:
        """Give the outcomes of runs of a job; it has ended with its last one."""
        with self._changed:
            self._unread += outcomes
            self._left[job] -= len(outcomes)
            if not self._left[job]:
                del self._left[job]
                self._states[job] = "ended"
            self._changed.notify_all()

    def _break(self, fault: Exception) -> None:
        """End with an error of the executor itself, which `outcomes` raises."""
        with self._changed:
            self._fault = fault
            self._changed.notify_all()
