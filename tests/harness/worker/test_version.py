import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import harness.worker.version as module

Installed = Callable[[dict[str, object] | None], str]
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def installed(tmp_path: Path) -> Installed:
    """Lay out an installation by hand, as pip does, and ask it which harness it is."""

    def describe(note: dict[str, object] | None) -> str:
        worker = tmp_path / "harness" / "worker"
        worker.mkdir(parents=True)
        for folder in (worker.parent, worker):
            (folder / "__init__.py").touch()
        shutil.copy(module.__file__, worker)
        facts = tmp_path / "peft_proving_ground-9.8.7.dist-info"
        facts.mkdir()
        (facts / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: peft-proving-ground\nVersion: 9.8.7\n"
        )
        if note is not None:
            (facts / "direct_url.json").write_text(json.dumps(note))
        ask = "from harness.worker.version import described; print(described())"
        done = subprocess.run(
            [sys.executable, "-c", ask],
            cwd=tmp_path,
            env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    return describe


def test_an_installation_from_a_repository_knows_its_commit(installed: Installed) -> None:
    # The layout of the note is that of PEP 610.
    vcs = {"vcs": "git", "requested_revision": "main", "commit_id": COMMIT}
    note = {"url": "https://example.org/repository.git", "vcs_info": vcs}
    assert installed(note) == f"harness 9.8.7, commit {COMMIT}"


@pytest.mark.parametrize("note", [None, {"url": "file:///a.whl", "archive_info": {}}])
def test_the_commit_of_any_other_wheel_is_unknown(
    installed: Installed, note: dict[str, object] | None
) -> None:
    assert installed(note) == "harness 9.8.7, commit unknown"


def test_the_command_prints_version_and_commit() -> None:
    command = [sys.executable, "-c", "from harness.cli import main; main()", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == module.described()
    assert done.stdout.startswith("harness ")
