"""Fixtures of the whole suite."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def harness() -> Command:
    """Run the command line as a user does, in a folder, without the user's own settings."""
    program = Path(sys.executable).with_name("harness")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HARNESS_")}

    def run(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [os.fspath(program), *arguments]
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )

    return run
