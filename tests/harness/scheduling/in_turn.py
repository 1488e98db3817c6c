"""An executor without processes: runs are functions, one after the other in the caller's thread."""

from collections import Counter
from collections.abc import Callable, Iterator

from harness.scheduling.executors.conformance.stand_in import RESULT
from harness.scheduling.executors.contract import Executor, Job, Outcome, State, outcome_of
from harness.spec.outcome import INTERRUPTED
from results.runfolder.folder import RunFolder

Work = Callable[[RunFolder], int]
"""Does what a worker would, and gives its exit status."""


def finish(folder: RunFolder) -> int:
    folder.write_result(RESULT.model_copy(update={"seconds": {"wall": 12.0}}))
    return 0


class InTurn(Executor):
    """Runs a job whenever an outcome is asked for."""

    def __init__(self, work: Work) -> None:
        self.work, self.jobs, self.ended = work, list[Job](), 0
        self.cancelled: set[Job] = set()

    @property
    def starts(self) -> Counter[str]:
        """How often each run was submitted."""
        return Counter(job.folders[0].path.name for job in self.jobs)

    def submit(self, job: Job) -> None:
        self.jobs.append(job)

    def outcomes(self) -> Iterator[Outcome]:
        while self.ended < len(self.jobs):
            job = self.jobs[self.ended]
            (folder,) = job.folders
            status = INTERRUPTED if job in self.cancelled else self.work(folder)
            outcome = outcome_of(folder, status)
            self.ended += 1
            yield outcome

    def cancel(self, job: Job) -> None:
        self.cancelled.add(job)

    def interrupt(self) -> int:
        self.cancelled |= set(self.jobs[self.ended :])
        return 0

    def state(self, job: Job) -> State:
        return "ended" if self.jobs.index(job) < self.ended else "waiting"

    def close(self) -> None:
        """Nothing is at work."""
