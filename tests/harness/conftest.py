"""Small things to try the harness on: specs, runs and their results, backbones, processes."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from harness import plugins
from harness.protocols import paper
from harness.scheduling.executors.conformance.stand_in import BESIDE, RESULT
from harness.spec.planned import PlannedRun
from harness.spec.recipe import USUAL_BATCHES, Recipe
from harness.spec.spec import Backbone, Data, MethodSpec, Seeds, Spec
from results.runfolder.folder import RunFolder
from results.runfolder.values import Result, TrainRecord

SEARCHED = [os.environ["PYTHONPATH"]] if "PYTHONPATH" in os.environ else []
"""Where Python looks for modules besides its own places, for processes that tests start."""

SHAPE = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
}


def make_spec(**changes: Any) -> Spec:
    data = Data(title="sample", kind="sample", sha256="ab" * 32, verified=True, rows=50)
    facts: dict[str, Any] = {
        "method": MethodSpec(
            name="lora", label="lora", fields={"r": 24, "bias": "none", "x": None}, source="cd" * 32
        ),
        "backbone": Backbone(name="tiny", revision="sha256:ef"),
        "group": "math",
        "train_data": data,
        "tests": {"gsm8k": data, "aqua": data},
        "limit": None,
        "train_limit": None,
        "train": Recipe(),
        "generate": USUAL_BATCHES,
        "protocol": paper.protocol,
        "weights": "float32",
        "adapter": "float32",
        "seeds": Seeds(init=2333, order=2333, split=2333),
        **changes,
    }
    return Spec(**facts)


@pytest.fixture(scope="session")
def spec() -> Callable[..., Spec]:
    return make_spec


@pytest.fixture(scope="session")
def planned() -> Callable[..., PlannedRun]:
    def make(**changes: Any) -> PlannedRun:
        place = changes.pop("backbone_place", "somewhere")
        return PlannedRun(spec=make_spec(**changes), backbone_place=place, data_folder=None)

    return make


@pytest.fixture(scope="session")
def train_record() -> TrainRecord:
    """Make the record of a training that cut and dropped no rows."""
    return TrainRecord(
        rows=20,
        cut=0,
        dropped=0,
        steps=5,
        tokens=99,
        best_step=5,
        best_validation_loss=1.0,
        tokens_per_second=1234.5,
    )


@pytest.fixture(scope="session")
def result() -> Result:
    """Make the result of a run that trained and has no scores yet."""
    facts = {
        "started": 1_767_225_600.5,  # 2026-01-01, and half a second
        "seconds": {"wall": 12.0},
        "environment_id": "0123456789abcdef",
        "trainable_parameters": 5,
        "total_parameters": 1000,
        "adapter_bytes": 20,
        "peak_memory_bytes": 4096,
    }
    return RESULT.model_copy(update=facts)


@pytest.fixture(scope="session")
def make_backbone() -> Callable[..., Path]:
    def make(folder: Path, weights: bytes = b"weights", tokenizer: str = "{}") -> Path:
        folder.mkdir(parents=True)
        (folder / "config.json").write_text(json.dumps(SHAPE))
        (folder / "model.safetensors").write_bytes(weights)
        (folder / "tokenizer.json").write_text(tokenizer)
        return folder

    return make


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Path]]:
    """Install a distribution of one package `extra` that adds plugins by entry points."""
    site = tmp_path / "site"

    def add(entry_points: str, **modules: str) -> Path:
        package = site / "extra"
        package.mkdir(parents=True)
        for name, text in {"__init__": "", **modules}.items():
            (package / f"{name}.py").write_text(text)
        record = site / "extra-1.0.dist-info"
        record.mkdir()
        (record / "METADATA").write_text("Metadata-Version: 2.1\nName: extra\nVersion: 1.0\n")
        (record / "entry_points.txt").write_text(entry_points)
        monkeypatch.syspath_prepend(site)
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(site), *SEARCHED]))
        plugins._entry_points.cache_clear()
        return package

    yield add
    plugins._entry_points.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "extra"]:
        del sys.modules[name]


@pytest.fixture
def act(tmp_path: Path) -> Callable[..., RunFolder]:
    """Make a run folder whose run, in the stand-in of the worker, does what a script says."""

    def make(script: str, name: str = "run") -> RunFolder:
        folder = RunFolder(tmp_path / name)
        folder.path.mkdir()
        (folder.path / "act.py").write_text(script)
        (folder.path / BESIDE).write_text(str(tmp_path))
        return folder

    return make


@pytest.fixture(scope="session")
def children() -> Callable[[int], list[int]]:
    """List the processes whose parent a process is."""

    def find(pid: int) -> list[int]:
        found = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):  # it ended while we looked
                state, parent = stat.read_text().rpartition(")")[2].split()[:2]
                if int(parent) == pid and state != "Z":
                    found.append(int(stat.parent.name))
        return found

    return find


@pytest.fixture(scope="session")
def alive() -> Callable[[int], bool]:
    """Whether a process is there and no zombie."""

    def look(pid: int) -> bool:
        with suppress(OSError):
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        return False

    return look


@pytest.fixture
def orphans() -> Iterator[list[int]]:
    """Collect processes that a failing claim would leave behind, to end them."""
    found: list[int] = []
    yield found
    for pid in found:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="session")
def python() -> Callable[..., "subprocess.CompletedProcess[str]"]:
    """Run a script in a process of its own."""

    def run(
        script: str, *arguments: object, **environment: str
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-c", script, *map(str, arguments)],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run
