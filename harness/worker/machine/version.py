"""Which harness this is: version and commit, of a checkout or of an installed wheel."""

import json
import os
import shutil
import subprocess
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

DISTRIBUTION = "peft-proving-ground"
UNKNOWN = "unknown"
"""The version of a folder that was not installed, the commit of a wheel that nobody noted."""


def version() -> str:
    """Give the version of the distribution; a folder that was not installed has none."""
    try:
        return distribution(DISTRIBUTION).version
    except PackageNotFoundError:
        return UNKNOWN


@cache
def commit() -> dict[str, Any]:
    """Give the commit, and whether the files differ from it: when this process first asked.

    In a checkout git knows. A wheel holds a note of the checkout that it was built of. `dirty` is
    None where nobody knows.
    """
    folder = Path(__file__).parents[3]
    if (folder / ".git").exists() and shutil.which("git"):
        return {
            "commit": _git(folder, "rev-parse", "HEAD") or UNKNOWN,
            "dirty": bool(_git(folder, "status", "--porcelain")),
        }
    return {"commit": UNKNOWN, "dirty": None, **_noted()}


def described() -> str:
    """Say version and commit in a line."""
    found = commit()
    changed = ", with changes" if found["dirty"] else ""
    return f"harness {version()}, commit {found['commit']}{changed}"


def _noted() -> dict[str, Any]:
    """Read the note that the build hook (.ci) put into the wheel."""
    try:
        text = distribution(DISTRIBUTION).read_text("extra_metadata/commit.json")
    except PackageNotFoundError:
        return {}
    found: dict[str, Any] = json.loads(text or "{}")
    return found


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", os.fspath(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
