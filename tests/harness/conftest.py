"""Small things to try the harness on: a spec, a job, a backbone, a plugin, a light worker."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import plugins
from harness.protocols import paper
from harness.spec.planned import PlannedRun
from harness.spec.recipe import BatchPlan, Recipe
from harness.spec.spec import Backbone, Data, MethodSpec, Seeds, Spec

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

STAGES = '''
"""Stands in for the stages, whose imports take seconds: a run does what its act.py says."""
import sys, types

def execute(folder):
    exec((folder.path / "act.py").read_text(), {"folder": folder})

stages = types.ModuleType("harness.worker.stages")
stages.execute = execute
sys.modules[stages.__name__] = stages
'''


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
        "generate": BatchPlan(),
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
        plugins._entry_points.cache_clear()
        return package

    yield add
    plugins._entry_points.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "extra"]:
        del sys.modules[name]


@pytest.fixture(scope="session")
def light(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Give the environment of a worker that starts at once: its stages run the folder's act.py."""
    folder = tmp_path_factory.mktemp("light")
    (folder / "sitecustomize.py").write_text(STAGES)
    return {"PYTHONPATH": os.fspath(folder)}


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
