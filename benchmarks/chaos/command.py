"""`harness` as a user starts it: a process of its own, in a folder, without the user's settings."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

OUTPUT = "output.txt"
"""What all commands in a folder have printed."""

Running = subprocess.Popen


def start(place: Path, words: Sequence[str], *before: str, **variables: str) -> "Running[bytes]":
    """Start `harness` with these words in `place`.

    Args:
        place: Where it runs; its output is appended to a file there.
        words: What it is given.
        before: What starts it, such as another user.
        variables: Of its environment.
    """
    own = {name: value for name, value in os.environ.items() if not name.startswith("HARNESS_")}
    command = [*before, sys.executable, "-m", "harness", *words]
    with (place / OUTPUT).open("ab") as output:
        return subprocess.Popen(
            command,
            cwd=place,
            env={**own, **variables},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )


def run(place: Path, words: Sequence[str], *before: str, **variables: str) -> tuple[int, str]:
    """Run `harness`; return its exit status and what it printed."""
    printed = place / OUTPUT
    begin = printed.stat().st_size if printed.exists() else 0
    status = start(place, words, *before, **variables).wait()
    return status, printed.read_bytes()[begin:].decode(errors="replace")


def last_line(place: Path) -> str:
    """Give the last line that a command has printed in a folder."""
    lines = (place / OUTPUT).read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "nothing printed"
