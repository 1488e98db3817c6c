"""Leaving in two stages, as processes with a local executor and runs of the stand-in."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from results.runfolder.folder import RunFolder

SECONDS = 20

COMMAND = """
import sys
from pathlib import Path

from harness.commands.leaving import Leaving
from harness.scheduling.executors.conformance.stand_in import COMMAND
from harness.scheduling.executors.contract import Job
from harness.scheduling.executors.local import LocalExecutor
from harness.scheduling.slots import Slot
from results.runfolder.folder import RunFolder

with Leaving() as leaving, LocalExecutor([Slot()], COMMAND) as executor:
    leaving.executor = executor
    for path in sys.argv[1:]:
        executor.submit(Job((RunFolder(Path(path)),)))
    print("submitted", flush=True)
    print(*[one.status for one in executor.outcomes()], flush=True)
    if leaving.status:
        leaving.leave()
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(until: Callable[..., bool]) -> Iterator[Start]:
    """Start the command over acts, and wait until its first run is at work."""
    started = []

    def begin(*folders: RunFolder, code: str = COMMAND, ignored: str = "") -> Start:
        given = ["env", "--default-signal=INT,TERM,HUP", *([ignored] if ignored else [])]
        process = subprocess.Popen(
            [*given, sys.executable, "-c", code, *(os.fspath(one.path) for one in folders)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        mark = folders[0].path.with_name("at work")
        assert until(mark.exists, seconds=SECONDS)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


class Family:
    """The workers of a command and their runs, at the moment when they are listed."""

    def __init__(
        self,
        children: Callable[[int], list[int]],
        alive: Callable[[int], bool],
        until: Callable[..., bool],
    ) -> None:
        self.children, self.alive, self.until = children, alive, until
        self.pids: list[int] = []

    def list(self, command: "subprocess.Popen[str]") -> None:
        workers = self.children(command.pid)
        self.pids = [*workers, *(run for worker in workers for run in self.children(worker))]

    def gone(self) -> bool:
        return self.until(lambda: not any(map(self.alive, self.pids)), seconds=1)


@pytest.fixture
def family(
    children: Callable[[int], list[int]], alive: Callable[[int], bool], until: Callable[..., bool]
) -> Family:
    return Family(children, alive, until)


STOPS, DEAF = "reach('at work'); work()", "reach('at work'); wait('never')"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_first_signal_lets_the_run_stop_and_starts_no_other(
    start: Start, act: Callable[..., RunFolder], number: signal.Signals
) -> None:
    process = start(act(STOPS, "a"), act("finish()", "b"))
    process.send_signal(number)
    said, error = process.communicate(timeout=SECONDS)
    assert said.splitlines() == ["submitted", "cancelled cancelled"]
    assert error.splitlines() == [
        "Finishing the step of 1 run; again to leave now.",
        "Interrupted. What is done is kept; the same command goes on.",
    ]
    assert process.returncode == 128 + number


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("stopped", [False, True])
def test_a_second_signal_leaves_now_and_leaves_no_process(
    start: Start,
    act: Callable[..., RunFolder],
    family: Family,
    number: signal.Signals,
    stopped: bool,
) -> None:
    process = start(act(DEAF))
    family.list(process)
    assert len(family.pids) == 2
    for one in family.pids if stopped else ():
        os.kill(one, signal.SIGSTOP)
    process.send_signal(number)
    assert process.stderr
    assert "Finishing" in process.stderr.readline()
    process.send_signal(number)
    _, error = process.communicate(timeout=SECONDS)
    assert process.returncode == 128 + number
    assert error == "Interrupted. What is done is kept; the same command goes on.\n"
    assert family.gone()


PLANNING = """
import sys, threading, time
from pathlib import Path

from harness.commands.leaving import Leaving
from harness.scheduling.executors.conformance.stand_in import COMMAND
from harness.scheduling.executors.local import LocalExecutor
from harness.scheduling.slots import Slot

with Leaving() as leaving, LocalExecutor([Slot()], COMMAND) as executor:
    leaving.executor = executor
    executor.warm()
    (Path(sys.argv[1]).parent / "at work").touch()
    while True:
        try:
            {busy}
        except BaseException:
            pass
"""
BUSY = {
    "for a moment": "time.sleep(0.01)",
    "for a lock": "lock = threading.Lock(); lock.acquire(); lock.acquire()",
}


@pytest.mark.parametrize("how", BUSY)
def test_a_signal_before_anything_runs_leaves_at_once_whatever_is_done_then(
    start: Start,
    act: Callable[..., RunFolder],
    family: Family,
    how: str,
) -> None:
    process = start(act("finish()"), code=PLANNING.format(busy=BUSY[how]))
    family.list(process)
    assert len(family.pids) == 1
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=SECONDS)
    assert (process.returncode, error.count("\n")) == (130, 1)
    assert family.gone()


def test_a_signal_that_nohup_ignores_stays_ignored(
    start: Start, act: Callable[..., RunFolder]
) -> None:
    folder = act("reach('at work'); wait('go'); finish()")
    process = start(folder, ignored="--ignore-signal=HUP")
    process.send_signal(signal.SIGHUP)
    folder.path.with_name("go").touch()
    said, error = process.communicate(timeout=SECONDS)
    assert (said.splitlines()[1:], error, process.returncode) == (["finished"], "", 0)


def test_a_terminal_that_is_closed_ends_the_command_without_a_traceback(
    act: Callable[..., RunFolder],
    family: Family,
    until: Callable[..., bool],
) -> None:
    folder, master, slave = act(STOPS), *os.openpty()
    # The terminal becomes that of the command, which so hears of its end.
    code = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)" + COMMAND
    process = subprocess.Popen(
        [sys.executable, "-c", code, os.fspath(folder.path)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    assert until(folder.path.with_name("at work").exists, seconds=SECONDS)
    family.list(process)
    os.close(master)
    assert process.wait(SECONDS) == 129
    assert family.gone()


DETACHES = """
import sys
from pathlib import Path

from harness.commands.leaving import Leaving
from harness.scheduling.executors.conformance.stand_in import COMMAND
from harness.scheduling.executors.contract import Job
from harness.scheduling.executors.local import LocalExecutor
from harness.scheduling.slots import Slot
from results.runfolder.folder import RunFolder

class Elsewhere(LocalExecutor):
    detach = lambda self: True
    interrupt = close = lambda self: print("stopped", flush=True)

with Leaving() as leaving:
    leaving.executor = executor = Elsewhere([Slot()], COMMAND)
    executor.submit(Job((RunFolder(Path(sys.argv[1])),)))
    print(*[one.status for one in executor.outcomes()], flush=True)
"""


def test_runs_that_need_no_command_are_left_alone_and_it_says_so(
    start: Start, act: Callable[[str], RunFolder]
) -> None:
    running = start(act("reach('at work'); wait('never')"), code=DETACHES)
    running.send_signal(signal.SIGHUP)
    printed, said = running.communicate(timeout=SECONDS)
    assert running.returncode == 128 + signal.SIGHUP
    assert said.startswith("Left the runs to the cluster")
    assert "stopped" not in printed
