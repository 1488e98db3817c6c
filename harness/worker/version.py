"""Which harness this is: version and commit, of a checkout or of an installed wheel."""

import json
import os
import shutil
import subprocess
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


def commit() -> dict[str, Any]:
    """Give the commit, and whether the files differ from it.

    In a checkout git knows. Of an installation from a repository, pip has noted the commit
    (PEP 610). A wheel from elsewhere does not tell. Whether installed files were changed is known
    of neither: `dirty` is None.
    """
    folder = Path(__file__).parents[2]
    if (folder / ".git").exists() and shutil.which("git"):
        return {
            "commit": _git(folder, "rev-parse", "HEAD") or UNKNOWN,
            "dirty": bool(_git(folder, "status", "--porcelain")),
        }
    return {"commit": _noted() or UNKNOWN, "dirty": None}


def described() -> str:
    """Say version and commit in a line."""
    found = commit()
    changed = ", with changes" if found["dirty"] else ""
    return f"harness {version()}, commit {found['commit']}{changed}"


def _noted() -> str:
    try:
        text = distribution(DISTRIBUTION).read_text("direct_url.json") or "{}"
    except PackageNotFoundError:
        return ""
    return str(json.loads(text).get("vcs_info", {}).get("commit_id", ""))


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", os.fspath(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
