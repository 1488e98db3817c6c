"""What a run must not do: tell a secret of the environment, or load a pickle."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

SECRETS = {
    name: f"not-to-be-told-{name.lower()}"
    for name in ("HF_TOKEN", "WANDB_API_KEY", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
}

PASSWORD = "not-to-be-told-password"

POISON = """
import os, pickle, sys

def refuse(*args, **kwargs):
    with open(os.environ["POISONED"], "a") as file:
        import traceback
        traceback.print_stack(file=file)
    raise RuntimeError("a pickle was loaded")

for module in ("pickle", "_pickle"):
    found = __import__(module)
    found.load = found.loads = refuse
class Refused:
    __init__ = load = refuse
pickle.Unpickler = Refused
"""
"""Loaded by every Python process of the run, before anything else."""


TELLING = """
'''Telling: LoRA, whose training tells a secret.'''
import os
from dataclasses import replace
from methods.lora import method as lora

def hooks(model, ahead):
    raise ConnectionError("401 for " + os.environ["HF_TOKEN"])

method = replace(lora, title="Telling", hooks=hooks)
"""
"""A method of the user's; the reason why it fails holds a secret."""


def harness(
    folder: Path, *arguments: str, **environment: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "harness", *arguments],
        cwd=folder,
        env={**os.environ, **SECRETS, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
    )


def contents(root: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run a grid in which no process can load a pickle, a part of it again, and one that fails."""
    folder = tmp_path_factory.mktemp("secrets")
    (folder / "poison").mkdir()
    (folder / "poison" / "sitecustomize.py").write_text(POISON)
    searched = os.pathsep.join([str(folder / "poison"), os.environ.get("PYTHONPATH", "")])
    environment = {"PYTHONPATH": searched, "POISONED": str(folder / "poisoned.txt")}
    command = ("run", "--tasks", "gsm8k", "--limit", "2", "--train-limit", "20")
    command += ("--set", "train.epochs=1", "--set", "protocol.max_new_tokens=4", "--methods")
    printed = []
    for _ in range(2):
        # The second time, only the adapter is left.
        for path in [*folder.glob("runs/*/result.json"), *folder.glob("runs/*/generations/*")]:
            path.unlink()
        (folder / "harness.db").unlink(missing_ok=True)
        done = harness(folder, *command, "lora", **environment)
        assert done.returncode == 0, done.stdout + done.stderr
        printed += [done.stdout, done.stderr]
    (folder / "telling.py").write_text(TELLING)
    done = harness(folder, *command, "telling.py", **environment)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "ConnectionError: 401 for $HF_TOKEN" in done.stdout + done.stderr
    printed += [done.stdout, done.stderr]
    for asked in (
        ["history"],
        ["show", next(folder.glob("runs/*/result.json")).parent.name, "--all"],
    ):
        done = harness(folder, *asked, **environment)
        assert done.returncode == 0, done.stderr
        printed += [done.stdout, done.stderr]
    (folder / "printed.txt").write_text("\n".join(printed))
    return folder


@pytest.mark.parts
def test_no_secret_of_the_environment_is_written_or_printed(place: Path) -> None:
    for path, content in contents(place).items():
        for name, secret in SECRETS.items():
            assert secret.encode() not in content, f"{name} in {path}"


@pytest.mark.parts
def test_no_pickle_is_loaded_in_a_run_that_reads_back_what_was_trained(place: Path) -> None:
    assert not (place / "poisoned.txt").exists(), (place / "poisoned.txt").read_text()
    assert list(place.glob("runs/*/result.json"))
    kept = {path.suffix for path in place.glob("runs/**/*") if path.is_file()}
    assert kept <= {".json", ".jsonl", ".gz", ".txt", ".safetensors", ".md", ".py", ""}


@pytest.mark.parametrize(
    "command",
    [
        *(["history"], ["table"], ["show", "1"], ["reindex"], ["rescore"]),
        *(["merge", "other.db"], ["export", "1", "--out", "runs.zip"]),
        ["run", "--methods", "base", "--tasks", "gsm8k", "--limit", "2"],
    ],
)
def test_the_password_of_a_database_is_not_printed(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    url = f"postgresql+psycopg://ann:{PASSWORD}@127.0.0.1:9/runs?connect_timeout=2"
    done = harness(tmp_path, *command, "--store", url)
    assert done.returncode == 2, done.stdout + done.stderr
    assert PASSWORD not in done.stdout + done.stderr
    assert not any(PASSWORD.encode() in content for content in contents(tmp_path).values())


PICKLES = {"pickle", "_pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}
LOADS = {("torch", "load"), ("np", "load"), ("numpy", "load"), ("pd", "read_pickle")}


@pytest.mark.parametrize("package", ["harness", "methods", "tasks", "results"])
def test_no_module_names_what_loads_pickles(package: str) -> None:
    for path in Path(__file__).parents[2].glob(f"{package}/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                assert not {alias.name for alias in node.names} & PICKLES, path
            elif isinstance(node, ast.ImportFrom):
                assert node.module not in PICKLES, path
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert (node.value.id, node.attr) not in LOADS, f"{path}:{node.lineno}"
