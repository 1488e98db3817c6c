"""Running jobs over slots: an executor takes run folders and yields outcomes as they finish."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Literal

import torch

from harness.worker.status import ELSEWHERE
from results.runfolder.folder import RunFolder

Launch = Callable[[RunFolder, int], int]
"""Run one folder on one slot and return the exit status. Tests pass a function of their own."""

MOST_CPU_SLOTS = 4


@dataclass(frozen=True)
class Outcome:
    """How a run ended. A failure is a value: it does not end the others."""

    folder: RunFolder
    status: Literal["finished", "failed", "elsewhere"]


def execute(folders: Sequence[RunFolder], slots: int, launch: Launch) -> Iterator[Outcome]:
    """Give each folder, in order, the next free slot and yield outcomes as they finish."""
    free: SimpleQueue[int] = SimpleQueue()
    for slot in range(slots):
        free.put(slot)

    def one(folder: RunFolder) -> Outcome:
        slot = free.get()
        try:
            return _outcome(folder, launch(folder, slot))
        finally:
            free.put(slot)

    pool = ThreadPoolExecutor(slots)
    running = [pool.submit(one, folder) for folder in folders]
    try:
        for future in as_completed(running):
            yield future.result()
    finally:
        # Without waiting: on Ctrl-C whoever owns the workers ends them, and with them the threads.
        pool.shutdown(wait=False, cancel_futures=True)


class ClosedError(Exception):
    """The workers were ended on purpose, which is no failure of the runs at work."""


class LocalWorkers:
    """One worker process per slot, on this machine: over its GPUs, or over shares of its cores."""

    def __init__(self, environments: Sequence[Mapping[str, str]]) -> None:
        self._environments = environments
        self._workers: dict[int, subprocess.Popen[str]] = {}
        self._lock, self._closed = threading.Lock(), False

    def __call__(self, folder: RunFolder, slot: int) -> int:
        """Run `folder` on `slot`; a worker that died is replaced for the next run.

        Raises:
            ClosedError: The workers were ended, and the run with them.
        """
        worker = self._worker(slot)
        assert worker.stdin is not None
        assert worker.stdout is not None
        with suppress(BrokenPipeError):
            worker.stdin.write(f"{folder.path}\n")
            worker.stdin.flush()
        answer = worker.stdout.readline()
        if answer:
            return int(answer)
        status = worker.wait()
        with self._lock:
            if self._closed:
                raise ClosedError
            _close(self._workers.pop(slot))
        return status

    def __enter__(self) -> "LocalWorkers":
        return self

    def __exit__(self, *_: object) -> None:
        """End all workers and the runs at work in them."""
        with self._lock:
            self._closed = True
            for worker in self._workers.values():
                with suppress(ProcessLookupError):
                    os.killpg(worker.pid, signal.SIGTERM)
                worker.wait()
                _close(worker)

    def _worker(self, slot: int) -> "subprocess.Popen[str]":
        # Under the lock, so that none is started while the others are ended.
        with self._lock:
            if self._closed:
                raise ClosedError
            if slot not in self._workers:
                self._workers[slot] = self._start(slot)
            return self._workers[slot]

    def _start(self, slot: int) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "harness.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **self._environments[slot]},
            # Ctrl-C reaches the parent alone, which then ends the workers.
            start_new_session=True,
        )


def visible_gpus() -> list[str]:
    """List the GPUs of this machine that the user lets us see."""
    if not torch.cuda.is_available():
        return []
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    return visible.split(",") if visible else [str(n) for n in range(torch.cuda.device_count())]


def slot_environments(slots: int | None, gpus: Sequence[str]) -> list[dict[str, str]]:
    """Describe the slots: a GPU each, or an equal share of the cores.

    The share does not depend on how many runs there are: thread counts may move a last digit.
    """
    if gpus:
        return [{"CUDA_VISIBLE_DEVICES": gpu} for gpu in gpus[:slots]]
    cores = len(os.sched_getaffinity(0))
    count = slots or min(cores, MOST_CPU_SLOTS)
    threads = str(max(1, cores // count))
    return [{"OMP_NUM_THREADS": threads, "OMP_WAIT_POLICY": "PASSIVE"}] * count


def _close(worker: "subprocess.Popen[str]") -> None:
    """Close the pipes of a worker that has ended."""
    for pipe in (worker.stdin, worker.stdout):
        assert pipe is not None
        with suppress(BrokenPipeError):
            pipe.close()


def _outcome(folder: RunFolder, status: int) -> Outcome:
    if status == ELSEWHERE:
        return Outcome(folder, "elsewhere")
    if status == 0 and folder.has("result.json"):
        return Outcome(folder, "finished")
    if status < 0:
        known = -status in set(signal.Signals)
        name = signal.Signals(-status).name if known else f"signal {-status}"
        hint = ": is there enough memory?" if name == "SIGKILL" else ""
        folder.note_failure(f"The worker was ended by {name}{hint}")
    elif not folder.has("failure.json"):
        folder.note_failure(f"The worker ended with status {status} and left no result")
    return Outcome(folder, "failed")
