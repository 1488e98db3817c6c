"""Runs on a Ray cluster, whose nodes need not share a disk: run folders travel through Ray.

Ray finds places and GPUs, and notices when a node is lost. A slot is an actor that holds a worker
process; what its run writes is copied every few seconds into the run folder here. Ray restarts no
actor: a run that is lost has failed, and another attempt goes on from its last checkpoint, as
`--retries` allows.

Ray pickles what it sends: whoever reaches the cluster can run code on its nodes and here.
"""

import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import ray
from ray.exceptions import OutOfMemoryError, RayError

from harness.errors import UserError
from harness.scheduling.executors.contract import Job
from harness.scheduling.executors.local import WORKER, LocalExecutor
from harness.scheduling.process import Ended, Worker, WorkerProcess
from harness.scheduling.resources import Resources
from harness.scheduling.slots import Slot
from harness.scheduling.travel import Changes, Watch, temporary_place
from harness.spec.outcome import ELSEWHERE, FAILED
from results.runfolder import attempts, wishes
from results.runfolder.folder import AlreadyRunningError, RunFolder
from results.runfolder.values import FailureKind

SECONDS = 2.0
"""Between two looks at what a run has written."""

CALLS = 4
"""Of an actor at a time: one runs, another looks, and one asks to stop."""


class Host:
    """An actor: it holds a worker on a node, and copies of the folders that this runs."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self.worker = WorkerProcess(command, environment)
        self.watch: Watch | None = None
        self._looking = threading.Lock()  # nobody looks at a folder that is being removed

    def ready(self) -> None:
        """Start the worker; to be called means that the node has a place for it."""
        self.worker.start()

    def run(self, name: str, files: Changes) -> tuple[Ended | None, Changes]:
        """Run a folder; return what `WorkerProcess.run` does, and the changes not yet told."""
        with temporary_place() as here:
            folder = RunFolder(here / name)
            files.apply(folder.path)
            watch = Watch(folder.path)
            watch.changes()
            self.watch = watch
            self.worker.start()
            ended = self.worker.run(folder)
            with self._looking:
                self.watch = None
                return ended, watch.changes()

    def changes(self) -> Changes:
        """Tell what the run has written since the last call."""
        with self._looking:
            return self.watch.changes() if self.watch else Changes()

    def interrupt(self) -> None:
        """Ask worker and run to stop."""
        self.worker.interrupt()


class RayWorker:
    """A worker on the cluster, as `WorkerProcess` is one on this machine.

    Args:
        command: What starts a worker that reads folders from standard input, on any node.
        slot: How many threads it has.
        needs: What the cluster gives it, by Ray's names of resources.
    """

    def __init__(self, command: Sequence[str], slot: Slot, needs: Mapping[str, float]) -> None:
        self._command, self._slot, self._needs = command, slot, needs
        self._host: Any = None
        self._killed = self._asked = False

    def start(self) -> None:
        """Wait until the cluster has a place for it, unless it has one."""
        if self._host is None:
            self._killed = self._asked = False
            actor = ray.remote(Host).options(max_concurrency=CALLS, **self._needs)
            self._host = actor.remote(self._command, self._slot.environment)
            with suppress(RayError):  # `run` meets it again, and fails the run with it
                ray.get(self._host.ready.remote())

    def run(self, folder: RunFolder) -> Ended | None:
        """Let the worker run a folder; return how the run ended, None if it was ended from here."""
        try:
            try:
                with folder.locked():
                    return self._run(folder)
            except RayError as error:
                return self._lost(folder, error)
        except AlreadyRunningError:
            return Ended(ELSEWHERE)

    def _run(self, folder: RunFolder) -> Ended | None:
        host = self._host
        over = host.run.remote(folder.path.name, Watch(folder.path).changes())
        while not ray.wait([over], timeout=SECONDS)[0]:
            ray.get(host.changes.remote()).apply(folder.path)
            if self._asked or wishes.is_cancelled(folder):
                # Again each time: while the folder is copied, there is no run yet that could hear.
                ray.get(host.interrupt.remote())
        ended: Ended | None
        ended, changes = ray.get(over)
        changes.apply(folder.path)
        return ended and replace(ended, away=True)

    def _lost(self, folder: RunFolder, error: RayError) -> Ended | None:
        """Say of a run that Ray lost how it ended: from here, or on the cluster."""
        killed = self._killed
        self.end()  # an actor that is only out of reach would go on with the run
        if killed:
            attempts.interrupt(folder)
            return None
        if not folder.ended:  # what it wrote last may have come before Ray lost it
            attempts.close(folder, *_why(error), gone=True)
        return Ended(FAILED)

    def interrupt(self) -> None:
        """Ask the worker to end after the run at work in it, which stops too; from any thread."""
        if (host := self._host) is not None:
            self._asked = True
            host.interrupt.remote()

    def kill(self) -> None:
        """End the worker and the run at work in it, from any thread."""
        if (host := self._host) is not None:
            self._killed = True
            ray.kill(host)

    def end(self) -> None:
        """End the worker, if there is one."""
        self.kill()
        self._host = None


def _why(error: RayError) -> tuple[str, FailureKind]:
    if isinstance(error, OutOfMemoryError):
        return "Ray ended the worker: the node has too little memory", "memory"
    return f"Ray lost the run: {str(error).strip().splitlines()[-1]}", "vanished"


class RayExecutor(LocalExecutor):
    """Gives each job, in the order of submission, the next slot for which the cluster has a place.

    Args:
        slots: As many runs at a time, at most, and the threads of each.
        command: What starts a worker that reads folders from standard input.
        needs: What the cluster gives each slot, by Ray's names; a core for each thread if None.
    """

    def __init__(
        self,
        slots: Sequence[Slot],
        command: Sequence[str] = WORKER,
        needs: Mapping[str, float] | None = None,
    ) -> None:
        super().__init__([])
        self.workers: list[Worker] = [
            RayWorker(command, slot, needs or {"num_cpus": slot.threads or 1}) for slot in slots
        ]
        self._idle = [*self.workers]

    def warm(self) -> None:
        """Start nothing: what the cluster gives is taken when there is a run for it."""

    def close(self) -> None:
        """End the workers too that still wait for a place."""
        with self._changed:
            self._closed = True
        for worker in self.workers:
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


def executor(resources: Resources, address: str | None = None) -> RayExecutor:
    """Build it over a cluster: as many slots as there is room for, unless the user says how many.

    Args:
        resources: What a run takes. `per_gpu` runs share a GPU.
        address: Of the cluster; where Ray finds one itself if None.

    Raises:
        UserError: There is no cluster, or no node has what a run takes.
    """
    connect(address)
    slot = resources.on_a_node()
    needs: dict[str, float] = {"num_cpus": resources.cpus_per_run or slot.threads or 1}
    if resources.gpu:
        needs["num_gpus"] = resources.gpus_per_run / resources.per_gpu
    nodes: list[dict[str, Any]] = ray.nodes()
    room = sum(_room(node["Resources"], needs) for node in nodes if node["Alive"])
    if not (resources.slots or room):
        asked = ", ".join(f"{count:g} {name.removeprefix('num_')}" for name, count in needs.items())
        raise UserError(f"--executor ray: a run takes {asked}, which no node of the cluster has.")
    return RayExecutor([slot] * (resources.slots or room), needs=needs)


def connect(address: str | None) -> None:
    """Reach a cluster, unless this process has.

    Raises:
        UserError: There is none, or it is of another version.
    """
    if ray.is_initialized():
        return
    try:
        ray.init(address=address or "auto", log_to_driver=False)
    except (ConnectionError, ValueError) as error:
        raise UserError(
            f"--executor ray: there is no cluster at {address or 'the usual places'} "
            f"({str(error).splitlines()[0]}). `ray start --head` starts one; --address or "
            "RAY_ADDRESS says where one is."
        ) from error
    except RuntimeError as error:  # Ray tells the versions
        raise UserError(f"--executor ray: the cluster cannot be used. {error}") from error


def _room(node: Mapping[str, float], needs: Mapping[str, float]) -> int:
    """Count the runs that a node has room for."""
    has = {"num_cpus": node.get("CPU", 0), "num_gpus": node.get("GPU", 0)}
    return int(min(has[name] // count for name, count in needs.items()))
