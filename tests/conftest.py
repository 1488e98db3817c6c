"""Fixtures of the whole suite."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from harness import cli

# Test processes share the cores: two threads each would slow all of them down.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# What methods keep on disk between runs is not the user's here; one place for all processes.
CACHE = Path(tempfile.gettempdir()) / f"peft-proving-ground-tests-{os.getuid()}"
os.environ["XDG_CACHE_HOME"] = os.fspath(CACHE)

SPREAD = ("test_conformance.py", "test_published_percentages.py")
"""Files of many tests that share nothing: any process may take any of them."""


# Before xdist, which reads the marks in the same hook.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep a file in one process, for the sake of its fixtures, unless it is one of `SPREAD`."""
    for item in items:
        if item.path.name not in SPREAD:
            item.add_marker(pytest.mark.xdist_group(str(item.path)))


Done = subprocess.CompletedProcess
Command = Callable[..., "Done[str]"]


@pytest.fixture(scope="session")
def program() -> Command:
    """Run the command line as a user does: a process, in a folder, without the user's settings."""
    executable = Path(sys.executable).with_name("harness")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HARNESS_")}

    def run(folder: Path, *arguments: str) -> "Done[str]":
        command = [os.fspath(executable), *arguments]
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )

    return run


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
