"""Whose packages run: the names `methods`, `tasks` and `results` are common ones."""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.packages import NAMES, ROOT

Command = Callable[..., Any]


def harness(folder: Path, *arguments: str, path: Path = ROOT) -> "subprocess.CompletedProcess[str]":
    """Run `python -m harness` in a folder, which Python then searches first."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HARNESS_")}
    return subprocess.run(
        [sys.executable, "-m", "harness", *arguments],
        cwd=folder,
        env={**environment, "PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_python_m_harness_is_the_command_line(tmp_path: Path) -> None:
    done = harness(tmp_path, "tasks", "gsm8k")
    assert done.returncode == 0, done.stderr
    assert "GSM8K" in done.stdout


@pytest.mark.parametrize("name", ["tasks.py", "methods/__init__.py", "results.py"])
def test_a_module_of_the_users_in_the_place_of_ours_is_told_in_a_line(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("raise SystemExit('this ran')\n")
    done = harness(tmp_path, "tasks")
    package = name.partition("/")[0].removesuffix(".py")
    assert done.returncode == 2
    assert done.stderr == (
        f"error: `{package}` is {tmp_path / name}, not the harness's: rename it, or keep its "
        "folder off Python's path (PYTHONPATH, or the folder in which `python -m` starts).\n"
    )


@pytest.mark.parametrize("name", ["harness.py", "harness/__init__.py"])
def test_a_harness_of_the_users_in_the_place_of_ours_is_told_in_a_line(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("raise SystemExit('this ran')\n")
    entry = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]["harness"]
    module, function = entry.split(":")
    done = subprocess.run(
        [sys.executable, "-c", f"import {module}; {module}.{function}()", "tasks"],  # as pip's
        cwd=tmp_path,  # which `-c` has Python search first
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: `harness` is {tmp_path / name}, not the harness's: ")
    assert done.stderr.count("\n") == 1


def distribution(site: Path, name: str, *files: str) -> None:
    """Install what lies in a folder as a distribution."""
    record = site / f"{name.replace('-', '_')}-1.0.dist-info"
    record.mkdir(parents=True)
    (record / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (record / "RECORD").write_text("".join(f"{file},,\n" for file in files))


def test_a_package_of_another_distribution_is_told_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "methods").mkdir()
    (tmp_path / "methods" / "__init__.py").write_text("")
    distribution(tmp_path, "numerics", "methods/__init__.py")
    done = harness(tmp_path, "methods")
    assert done.returncode == 2
    assert "`methods` is that of numerics 1.0" in done.stderr
    assert "install peft-proving-ground in an environment without numerics" in done.stderr
    assert done.stderr.count("\n") == 1


def test_files_of_other_distributions_in_our_folders_are_no_plugins(tmp_path: Path) -> None:
    site = tmp_path / "site"
    for name in NAMES:
        shutil.copytree(ROOT / name, site / name, ignore=shutil.ignore_patterns("__pycache__"))
    ours = [str(path.relative_to(site)) for path in site.rglob("*") if path.is_file()]
    distribution(site, "peft-proving-ground", *ours)
    for file in ("methods/newton.py", "tasks/cron.py", "tasks/groups/cron.py"):
        (site / file).write_text("raise SystemExit('this ran')\n")
    methods = harness(tmp_path, "methods", path=site)
    assert methods.returncode == 0, methods.stderr
    assert "| lora " in methods.stdout
    assert "newton" not in methods.stdout
    tasks = harness(tmp_path, "tasks", path=site)
    assert tasks.returncode == 0, tasks.stderr
    assert "cron" not in tasks.stdout
