"""Programs in processes of their own, for so many seconds at most."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]

Done = subprocess.CompletedProcess


def python(words: Sequence[str], seconds: float, **variables: str) -> "Done[str]":
    """Run Python in the folder of the project, without the user's settings of the harness.

    Raises:
        subprocess.TimeoutExpired: The time was over; the process is ended.
    """
    own = {name: value for name, value in os.environ.items() if not name.startswith("HARNESS_")}
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        env={**own, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=seconds,
    )


def harness(words: Sequence[str], folder: Path, seconds: float, **variables: str) -> "Done[str]":
    """Run a command of the harness with its store and run folders in `folder`.

    A run that was cut off goes on with the next call.
    """
    folder.mkdir(parents=True, exist_ok=True)
    return python(
        ["-m", "harness", *words, "--store", str(folder / "harness.db")], seconds, **variables
    )


def complaint(done: "Done[str]") -> str:
    """Give the last line that a program wrote before it failed."""
    lines = (done.stderr or done.stdout).strip().splitlines()
    return lines[-1] if lines else f"ended with {done.returncode}"
