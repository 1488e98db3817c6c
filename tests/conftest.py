"""Fixtures of the whole suite."""

import contextlib
import gc
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from xdist.scheduler import LoadFileScheduling

from harness import cli
from harness.plugins import named_files

# Test processes share the cores: two threads each would slow all of them down.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# What methods keep on disk between runs is not the user's here; one place for all processes.
CACHE = Path(tempfile.gettempdir()) / f"peft-proving-ground-tests-{os.getuid()}"
os.environ["XDG_CACHE_HOME"] = os.fspath(CACHE)
# No test is timed, so no example is either: a busy machine proves nothing.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")


class Shares(LoadFileScheduling):  # type: ignore[misc] # xdist has no types
    """What goes to one process at a time: a file, for its fixtures, or less if nothing is shared.

    xdist's own groups by mark do nothing under pytest 9.
    """

    def _split_scope(self, nodeid: str) -> str:
        file, _, case = nodeid.partition("::")
        if file.endswith("methods/test_conformance.py"):
            # A process makes the trained adapter of a method on a model once, for all checks.
            name, _, model = case.split("-", 2)
            return f"{name}-{model}"
        if "leaderboard/browser/" in file:
            # One process makes the runs that all of them look at.
            return "browser"
        alone = ("test_published_percentages.py", "test_walkthroughs.py")
        return nodeid if file.endswith(alone) else file


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Shares:
    """Share the tests out as above."""
    return Shares(config, log)


def pytest_sessionstart() -> None:
    """Look for no cycles among what is imported and collected, which stays."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Look for cycles again, but seldom: it took a sixth of the time of the tests."""
    gc.freeze()
    gc.set_threshold(20_000)
    gc.enable()


Done = subprocess.CompletedProcess
Command = Callable[..., "Done[str]"]


@pytest.fixture(scope="session")
def program() -> Command:
    """Run the command line as a user does: a process, in a folder, without the user's settings."""
    executable = Path(sys.executable).with_name("harness")

    def run(folder: Path, *arguments: str) -> "Done[str]":
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HARNESS_")}
        command = [os.fspath(executable), *arguments]
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )

    return run


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make the folder of run folders."""
    made = tmp_path / "runs"
    made.mkdir()
    return made


@pytest.fixture(autouse=True)
def no_named_files() -> Iterator[None]:
    """Forget the plugins that a test named by path, and the folders they import from."""
    before = [*sys.path]
    yield
    named_files._named.clear()
    sys.path[:] = before


@pytest.fixture
def harness(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run the command line in this process, which has the imports done; workers are real ones."""
    for name in [name for name in os.environ if name.startswith("HARNESS_")]:
        monkeypatch.delenv(name)

    def run(folder: Path, *arguments: str) -> "Done[str]":
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["harness", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        return Done(arguments, int(ended.value.code or 0), printed.out, printed.err)

    return run


@pytest.fixture
def at_once() -> Iterator[None]:
    """End a test that waits for ever, as whoever opens a FIFO does."""

    def end(*_: object) -> None:
        raise TimeoutError("nothing came for two minutes")

    signal.signal(signal.SIGALRM, end)
    signal.alarm(120)
    yield
    signal.alarm(0)


@pytest.fixture
def hostile() -> Callable[[str, Path], None]:
    """Put something in the place of a file: a folder, FIFO, socket, or a link to nothing."""

    def socket_at(path: Path) -> None:
        with socket.socket(socket.AF_UNIX) as made, contextlib.chdir(path.parent):
            made.bind(path.name)  # the whole path may be too long for a socket

    makers: dict[str, Callable[[Path], object]] = {
        "folder": Path.mkdir,
        "FIFO": os.mkfifo,
        "socket": socket_at,
        "link to nothing": lambda path: path.symlink_to("nothing"),
    }

    def put(what: str, path: Path) -> None:
        path.unlink(missing_ok=True)
        makers[what](path)

    return put


@pytest.fixture(scope="session")
def until() -> Callable[..., bool]:
    """Wait for something that is bound to happen; False if it does not."""

    def wait(true: Callable[[], bool], seconds: float = 20) -> bool:
        end = time.monotonic() + seconds
        while not (found := true()) and time.monotonic() < end:
            time.sleep(0.01)
        return found

    return wait
