"""The processes that train one run together.

Rank 0 is the process of the run: it alone writes into the run folder. It forks the others before
anything touches a GPU. They train, write nothing, and end with rank 0, however that ends. A rank
that fails ends the run, with its own reason.
"""

import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NoReturn

import torch
from torch import distributed

from harness.spec.outcome import FAILED
from harness.worker.failing import VanishedError, print_trace, reason_of
from harness.worker.parent import end_with_parent

HOST = "127.0.0.1"

GRACE = 10.0
"""Seconds in which rank 0 has to notice that another one died; an exchange of GPUs never does."""


@dataclass(frozen=True)
class Rank:
    """One of the processes of a training.

    Attributes:
        number: From 0.
        of: How many there are.
        door: The socket at which rank 0 waits for the others; none where it is alone.
        await_others: Waits, on rank 0, for the others to end.
    """

    number: int = 0
    of: int = 1
    door: socket.socket | None = None
    await_others: Callable[[], None] = lambda: None

    def take_gpu(self) -> None:
        """Compute on the GPU of this number from now on."""
        os.environ["LOCAL_RANK"] = str(self.number)  # transformers puts weights there
        if torch.cuda.is_available():
            torch.cuda.set_device(self.number)

    def join(self) -> None:
        """Meet the other ranks; DeepSpeed wants a group of one process too."""
        # Accelerate and DeepSpeed read these, and not the group.
        os.environ |= {"RANK": f"{self.number}", "LOCAL_RANK": f"{self.number}"}
        os.environ |= {"WORLD_SIZE": f"{self.of}", "LOCAL_WORLD_SIZE": f"{self.of}"}
        backend = "gloo"
        if torch.cuda.is_available():
            # What is on the CPU is exchanged there, so that nobody waits for a GPU.
            backend = "cpu:gloo,cuda:nccl" if self.of > 1 else "nccl"
        if not distributed.is_initialized():
            distributed.init_process_group(
                backend, store=self._store(), rank=self.number, world_size=self.of
            )

    def leave(self) -> None:
        """Part from the other ranks, with which there is nothing to be done any more.

        Rank 0 waits for their end, by which the memory of their GPUs is free again.
        """
        if self.of > 1:
            distributed.destroy_process_group()
            self.await_others()

    def _store(self) -> Any:
        stores: Any = distributed
        if self.door is None:
            # Within this process: no port that another run could take.
            return stores.HashStore()
        # They are all on this machine, whatever its name resolves to.
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
        port, first = self.door.getsockname()[1], self.number == 0
        listening = {"master_listen_fd": os.dup(self.door.fileno())} if first else {}
        return stores.TCPStore(HOST, port, self.of, first, timedelta(minutes=5), **listening)

    def sum(self, tensor: torch.Tensor) -> torch.Tensor:
        """Add up a tensor over the ranks, in place."""
        if self.of > 1:
            distributed.all_reduce(tensor)
        return tensor

    def told(self, number: int) -> int:
        """Give the number that rank 0 has; the ranks call it together, as they do all below."""
        said = torch.tensor(number)
        if self.of > 1:
            distributed.broadcast(said, 0)
        return int(said)

    def most(self, numbers: Sequence[int]) -> list[int]:
        """Give the largest number of all ranks, place by place."""
        found = torch.tensor(numbers)
        if self.of > 1:
            distributed.all_reduce(found, distributed.ReduceOp.MAX)
        return found.tolist()

    def wait(self) -> None:
        """Wait until all ranks are here."""
        self.sum(torch.zeros(1))


ALONE = Rank()


class Others:
    """The ranks that rank 0 forked.

    Args:
        give_up: Notes why a rank failed, where rank 0 cannot go on to say it.
    """

    def __init__(self, give_up: Callable[[Exception], None]) -> None:
        self.give_up = give_up
        self.pids: list[int] = []
        self.threads: list[threading.Thread] = []
        self.fault: Exception | None = None
        self.left = threading.Event()

    def fork(self, rank: Rank, work: Callable[[Rank], None]) -> None:
        """Start a rank, which ends after its work."""
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            _work_and_exit(rank, work, writing)
        os.close(writing)
        self.pids.append(pid)
        self.threads.append(
            threading.Thread(target=self._watch, args=(rank, pid, reading), daemon=True)
        )

    def end(self) -> None:
        """End the ranks that are still at work, and wait for all."""
        self.left.set()
        for pid in self.pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.wait()

    def wait(self) -> None:
        """Wait for the end of all."""
        for thread in self.threads:
            thread.join()

    def _watch(self, rank: Rank, pid: int, reading: int) -> None:
        # What it told may be cut within a character.
        with os.fdopen(reading, errors="replace") as told:
            reason = told.read()
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        if not status or self.left.is_set():
            return
        self.fault = self.fault or _fault(rank, status, reason)
        if not self.left.wait(GRACE):
            self.give_up(self.fault)
            os._exit(FAILED)


@contextmanager
def together(
    of: int, work: Callable[[Rank], None], give_up: Callable[[Exception], None]
) -> Iterator[Rank]:
    """Be rank 0 of `of` processes in this block; the others do `work`, and end with the block.

    Args:
        of: How many there are.
        work: What the others do, each as its rank; this process does its own in the block.
        give_up: Notes why a rank failed, where rank 0 hangs in what it does with it; the process
            ends after that.

    Raises:
        Exception: Another rank failed, and so did the block.
    """
    if of == 1:
        yield ALONE
        return
    others = Others(give_up)
    with socket.create_server((HOST, 0)) as door:
        for number in range(1, of):
            others.fork(Rank(number, of, door), work)
        for thread in others.threads:
            thread.start()
        try:
            yield Rank(0, of, door, others.wait)
        except Exception as error:
            # Where another rank died, that is why rank 0 could not go on.
            time.sleep(0.5)
            raise (others.fault or error) from error
        finally:
            others.end()


def _work_and_exit(rank: Rank, work: Callable[[Rank], None], writing: int) -> NoReturn:
    end_with_parent()
    # Rank 0 says when a run is over; it is the one who is asked to stop.
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.SIG_IGN)
    status = FAILED
    try:
        work(rank)
        status = 0
    except BaseException as error:
        print_trace(error)
        os.write(writing, reason_of(error).encode(errors="backslashreplace")[:4096])
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _fault(rank: Rank, status: int, reason: str) -> Exception:
    place = f"rank {rank.number} of 0 to {rank.of - 1}"
    if status < 0:
        return VanishedError(f"{place} was ended by {signal.Signals(-status).name}")
    return RuntimeError(f"{place}: {reason}")
