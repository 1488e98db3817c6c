"""Runs on a Ray cluster, whose nodes need not share a disk: run folders travel through Ray.

GPUs, packing and the loss of nodes are Ray's business. A slot is an actor that holds a worker
process; what its run writes is copied every few seconds into the run folder here, so that another
attempt goes on from the last checkpoint where a node is lost.
"""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayActorError

from harness.scheduling.executors.contract import Job
from harness.scheduling.executors.local import WORKER, LocalExecutor
from harness.scheduling.process import Ended, Worker, WorkerProcess
from harness.scheduling.slots import Slot
from harness.scheduling.travel import Changes, Watch
from harness.spec.outcome import ELSEWHERE, FAILED
from results.runfolder import attempts
from results.runfolder.folder import AlreadyRunningError, RunFolder

SECONDS = 2.0
"""Between two looks at what a run has written."""

CALLS = 4
"""Of an actor at a time: one runs, another looks, and one asks to stop."""


class Host:
    """An actor: it holds a worker on a node, and copies of the folders that this runs."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.worker = WorkerProcess(command, environment)
        self.watch: Watch | None = None

    def ready(self) -> None:
        """Start the worker; to be called means that the node has a place for it."""
        self.worker.start()

    def run(self, name: str, files: Changes) -> tuple[Ended | None, Changes]:
        """Run a folder; return what `WorkerProcess.run` does, and the changes not yet told."""
        with tempfile.TemporaryDirectory(prefix="harness-run-") as place:
            folder = RunFolder(Path(place, name))
            files.apply(folder.path)
            watch = Watch(folder.path)
            watch.changes()
            self.watch = watch
            self.worker.start()
            ended = self.worker.run(folder)
            self.watch = None
            return ended, watch.changes()

    def changes(self) -> Changes:
        """Tell what the run has written since the last call."""
        return self.watch.changes() if self.watch else Changes()

    def interrupt(self) -> None:
        """Ask worker and run to stop."""
        self.worker.interrupt()


class RayWorker:
    """A worker on the cluster, as `WorkerProcess` is one on this machine.

    Args:
        command: What starts a worker that reads folders from standard input, on any node.
        slot: How many threads it takes, or which share of a GPU.
    """

    def __init__(self, command: Sequence[str], slot: Slot) -> None:
        self._command, self._slot = command, slot
        self._host: Any = None
        self._killed = False

    def start(self) -> None:
        """Wait until the cluster has a place for it, unless it has one."""
        if self._host is None:
            self._killed = False
            needs = {"num_cpus": self._slot.threads or 1}
            actor = ray.remote(Host).options(max_concurrency=CALLS, **needs)
            self._host = actor.remote(self._command, self._slot.environment)
            ray.get(self._host.ready.remote())

    def run(self, folder: RunFolder) -> Ended | None:
        """Let the worker run a folder; return how the run ended, None if it was ended from here."""
        try:
            with folder.locked():
                return self._run(folder)
        except AlreadyRunningError:
            return Ended(ELSEWHERE)

    def _run(self, folder: RunFolder) -> Ended | None:
        host = self._host
        try:
            over = host.run.remote(folder.path.name, Watch(folder.path).changes())
            while not ray.wait([over], timeout=SECONDS)[0]:
                ray.get(host.changes.remote()).apply(folder.path)
            ended: Ended | None
            ended, changes = ray.get(over)
        except RayActorError as error:
            self._host = None
            if self._killed:
                attempts.interrupt(folder)
                return None
            attempts.close(folder, f"The node that ran it was lost: {_told(error)}", "vanished")
            return Ended(FAILED)
        changes.apply(folder.path)
        return ended

    def interrupt(self) -> None:
        """Ask the worker to end after the run at work in it, which stops too; from any thread."""
        if self._host is not None:
            self._host.interrupt.remote()

    def kill(self) -> None:
        """End the worker and the run at work in it, from any thread."""
        if self._host is not None:
            self._killed = True
            ray.kill(self._host)

    def end(self) -> None:
        """End the worker, if there is one."""
        self.kill()
        self._host = None


def _told(error: RayActorError) -> str:
    return str(error).strip().splitlines()[-1]


class RayExecutor(LocalExecutor):
    """Gives each job, in the order of submission, the next slot for which the cluster has a place.

    Args:
        slots: As many runs at a time, at most, and what each of them takes.
        command: What starts a worker that reads folders from standard input.
        address: Of the cluster; where Ray finds one itself if None.
    """

    def __init__(
        self, slots: Sequence[Slot], command: Sequence[str] = WORKER, address: str | None = None
    ) -> None:
        super().__init__([])
        if not ray.is_initialized():
            ray.init(address=address or "auto", log_to_driver=False)
        self._workers: list[Worker] = [RayWorker(command, slot) for slot in slots]
        self._idle = [*self._workers]

    def warm(self) -> None:
        """Start nothing: what the cluster gives is taken when there is a run for it."""

    def close(self) -> None:
        """End the workers too that still wait for a place."""
        with self._changed:
            self._closed = True
        for worker in self._workers:
            worker.kill()
        super().close()

    def _take(self, worker: Worker) -> Job | None:
        """Take a job once the cluster has a place; give that back while no job waits."""
        with self._changed:
            if not self._waiting:
                worker.end()
            self._changed.wait_for(lambda: self._waiting or self._closed)
        worker.start()
        return super()._take(worker)


executor = RayExecutor
