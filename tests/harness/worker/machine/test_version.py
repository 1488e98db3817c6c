import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import harness.worker.machine.version as module
from harness.packages import NAMES, ROOT

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def described(site: Path) -> str:
    """Ask the harness that is installed in a folder which one it is."""
    done = subprocess.run(
        [sys.executable, "-c", "from harness.worker.machine.version import *; print(described())"],
        cwd=site,
        env={"PYTHONPATH": str(site), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


Installed = Callable[[dict[str, object] | None], str]


@pytest.fixture
def installed(tmp_path: Path) -> Installed:
    """Lay out an installation by hand, as pip does, and ask it which harness it is."""

    def describe(note: dict[str, object] | None) -> str:
        machine = tmp_path / "harness" / "worker" / "machine"
        machine.mkdir(parents=True)
        for folder in (machine.parents[1], machine.parent, machine):
            (folder / "__init__.py").touch()
        shutil.copy(module.__file__, machine)
        facts = tmp_path / "peft_proving_ground-9.8.7.dist-info"
        (facts / "extra_metadata").mkdir(parents=True)
        (facts / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: peft-proving-ground\nVersion: 9.8.7\n"
        )
        if note is not None:
            (facts / "extra_metadata" / "commit.json").write_text(json.dumps(note))
        return described(tmp_path)

    return describe


@pytest.mark.parametrize(("dirty", "told"), [(False, ""), (True, ", with changes")])
def test_an_installation_tells_the_commit_that_was_noted_when_it_was_built(
    installed: Installed, dirty: bool, told: str
) -> None:
    assert installed({"commit": COMMIT, "dirty": dirty}) == f"harness 9.8.7, commit {COMMIT}{told}"


def test_the_commit_of_a_wheel_without_a_note_is_unknown(installed: Installed) -> None:
    assert installed(None) == "harness 9.8.7, commit unknown"


def test_the_command_prints_version_and_commit() -> None:
    command = [sys.executable, "-c", "from harness.cli import main; main()", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == module.described()
    assert done.stdout.startswith("harness ")


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    command = ["git", "-C", os.fspath(folder), *who, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Commit the files of this harness to a repository of their own."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in (*NAMES, ".ci"):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("pyproject.toml", "peft_proving_ground.py", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, folder)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "All")
    return folder


def built(source: Path, target: str, place: Path) -> Path:
    """Build a wheel or an sdist of a folder; return its file."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", os.fspath(place)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (file,) = place.iterdir()
    return file


def unpacked(wheel: Path, site: Path) -> Path:
    zipfile.ZipFile(wheel).extractall(site)  # what an installer does with pure Python
    return site


@pytest.mark.parts
def test_a_wheel_of_a_checkout_knows_version_and_commit(checkout: Path, tmp_path: Path) -> None:
    wheel = built(checkout, "wheel", tmp_path / "wheel")
    version, commit = wheel.name.split("-")[1], git(checkout, "rev-parse", "HEAD")
    told = described(unpacked(wheel, tmp_path / "site"))
    assert told == f"harness {version}, commit {commit}"


@pytest.mark.parts
def test_a_wheel_of_an_sdist_knows_the_commit_of_the_sdist(checkout: Path, tmp_path: Path) -> None:
    with tarfile.open(built(checkout, "sdist", tmp_path / "sdist")) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = tmp_path.glob("peft_proving_ground-*")
    wheel = built(source, "wheel", tmp_path / "wheel")
    told = described(unpacked(wheel, tmp_path / "site"))
    assert told.endswith(f", commit {git(checkout, 'rev-parse', 'HEAD')}")


@pytest.mark.parts
def test_a_wheel_of_files_that_were_changed_says_so(checkout: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed"
    shutil.copytree(checkout, changed)
    (changed / "harness" / "errors.py").write_text("")
    wheel = built(changed, "wheel", tmp_path / "wheel")
    assert described(unpacked(wheel, tmp_path / "site")).endswith(", with changes")
