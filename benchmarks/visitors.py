"""A server of pages over a store, and visitors who ask it for them."""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

PATIENCE = 60.0
"""Seconds until the server has to listen, and until it has to answer."""


@dataclass(frozen=True)
class Answer:
    """What a visitor got."""

    path: str
    asked: float
    """When, by the clock of `time.monotonic`."""
    seconds: float
    status: int
    body: bytes


@dataclass(frozen=True)
class Server:
    """A process of `harness leaderboard serve`."""

    address: str
    pid: int

    def get(self, path: str) -> Answer:
        """Ask for a page."""
        asked = time.monotonic()
        try:
            with urlopen(self.address + path, timeout=PATIENCE) as answer:
                status, body = answer.status, answer.read()
        except HTTPError as error:
            status, body = error.code, error.read()
        return Answer(path, asked, time.monotonic() - asked, status, body)

    def cpu_seconds(self) -> float:
        """Give the CPU seconds of all of its threads, those that have ended too."""
        return time.clock_gettime((~self.pid << 3) | 2)  # as Linux' clock_getcpuclockid makes it

    def most_mib(self) -> float:
        """Give the most memory that it has held."""
        status = Path(f"/proc/{self.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


@contextmanager
def serving(store: Path) -> Iterator[Server]:
    """Serve a store until the end of the block; it is listening at the beginning."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["-m", "harness", "leaderboard", "serve", "--store", str(store), "--port", str(port)]
    # A file that nobody reads: a pipe would fill up.
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL)
    try:
        server = Server(f"http://127.0.0.1:{port}", process.pid)
        _wait_for(server, process)
        yield server
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)


def _wait_for(server: Server, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < end:
        try:
            # An address that needs no store, so that the first page is not yet asked for.
            urlopen(f"{server.address}/static/style.css").close()
        except URLError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("The server did not begin to listen.")


def visit(
    server: Server, number: int, seconds: float, path: Callable[[int, int], str]
) -> list[Answer]:
    """Let visitors ask once a second each; `path` gives what visitor `a` asks for at time `b`."""
    begin = time.monotonic() + 0.1

    def one(visitor: int) -> list[Answer]:
        answers = []
        for turn in range(round(seconds)):
            # Spread over the second, as visitors come.
            due = begin + turn + visitor / number
            time.sleep(max(0.0, due - time.monotonic()))
            answers.append(server.get(path(visitor, turn)))
        return answers

    with ThreadPoolExecutor(number) as pool:
        return [answer for answers in pool.map(one, range(number)) for answer in answers]


def percentile(answers: Sequence[Answer], share: float) -> float:
    """Give the seconds within which that share of the answers came."""
    spent = sorted(answer.seconds for answer in answers)
    return spent[min(len(spent) - 1, int(share * len(spent)))]
