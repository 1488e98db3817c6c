"""DeepSpeed on CPU processes trains as plain torch does on one, in float32 and in bfloat16."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from harness import plugins

# DeepSpeed compiles an operator at its first start. Whole runs of one and of two processes by plain
# torch are compared in worker/test_shared_run.py.
pytestmark = [
    pytest.mark.parts,
    pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler"),
]

SYSTEMS = ("dypam", "rosa", "cascade", "hycam", "smoa")
"""The proposed systems: hooks (RoSA's layer selection), auxiliary losses (CASCADE, HyCAM)."""

REPRESENTATIVE = "flylora:code"
"""It keeps a frozen projection and a router's bias as buffers."""

EVERY = sorted(
    {name for name in plugins.names("methods") if plugins.method(name).zero_safe} - {"base"}
    | {REPRESENTATIVE, "hycam:code"}
)

ROUNDING, NOISE = 2e-4, 0.03
"""What the losses of the engines may differ by: a share of the first loss, a twentieth of what
bfloat16 resolves, and a share of what the loss falls by, since small differences grow in training.
Plain torch keeps the adapter in float32, DeepSpeed computes with its copy in bfloat16."""

STEPS = 13
"""18 rows, 3 epochs, 4 rows a step."""

REORDERED = STEPS * 2**-23
"""What the losses of two processes may differ by from those of one, as a share of the first: sums
of float32 are taken in another order, which rounds once more in each step."""

AMPLIFIED = {"riemoe_lora": 1e-3}
"""The same where a method makes more of rounding. While B is small, RieMoE-LoRA multiplies the
gradient of A by up to 1e6: by plain torch on one process, gradients that were moved in their last
bit at random moved losses by 3e-4 of the first. Without the preconditioner they are 5e-2 off."""

SHARED = ("torchx2", "zero1x2", "zero2x2", "zero3x2")
"""Engines of two processes."""

WITHOUT_DROPOUT = {"riemoe_lora": "riemoe_lora[dropout=0]", "smoa": "smoa:small[dropout=0]"}
"""What drops out is another part on each process."""

COMPARED = [name for name in EVERY if not name.startswith("hycam")]
"""HyCAM draws noise in training, which is other noise on each process."""

Trained = Callable[..., Path]


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Train methods by both engines, in one process: its imports take longer than that."""

    def run(precision: str, engines: str, *names: str) -> Path:
        folder = tmp_path_factory.mktemp("engines")
        script = [sys.executable, "-m", "tests.harness.worker.training.engines"]
        command = [*script, os.fspath(folder), precision, engines, *names]
        done = subprocess.run(command, capture_output=True, text=True, timeout=580, check=False)
        assert done.returncode == 0, done.stderr
        return folder

    return run


@pytest.fixture(scope="module")
def systems(train: Trained) -> Path:
    return train("float32", "torch,torchx2,zero1", *SYSTEMS, "rosa+packed")


@pytest.fixture(scope="module")
def halved(train: Trained) -> Path:
    return train("bfloat16", "torch,zero1", REPRESENTATIVE)


@pytest.fixture(scope="module")
def every(train: Trained) -> Path:
    return train("bfloat16", "torch,zero1", *EVERY)


@pytest.fixture(scope="module")
def shared(train: Trained) -> Path:
    """Train a method with hooks, whose selection takes gradients of frozen parameters."""
    return train("float32", ",".join(["torch", *SHARED]), "rosa")


@pytest.fixture(scope="module")
def every_shared(train: Trained) -> Path:
    names = [WITHOUT_DROPOUT.get(name, name) for name in COMPARED]
    return train("float32", "torch,torchx2,zero3x2", *names, "lora+packed")


def losses(folder: Path, engine: str, name: str) -> list[float]:
    """Give the losses of the steps, and of the validations."""
    lines = (folder / engine / f"{name}.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    return [e[key] for key in ("loss", "validation_loss") for e in found if key in e]


def adapter(folder: Path, engine: str, name: str) -> dict[str, Any]:
    return load_file(folder / engine / name / "adapter_model.safetensors")


def share(folder: Path, engine: str, name: str) -> None:
    """Check that two processes trained and saved what one did."""
    one, two = losses(folder, "torch", name), losses(folder, engine, name)
    assert len(one) == STEPS + 6
    rounding = AMPLIFIED.get(name.partition("[")[0], REORDERED)
    assert two == pytest.approx(one, abs=rounding * one[0])
    assert one[0] - one[-1] > 100 * rounding * one[0]  # it learned
    whole, saved = adapter(folder, "torch", name), adapter(folder, engine, name)
    assert {key: one.shape for key, one in saved.items()} == {k: v.shape for k, v in whole.items()}
    other = adapter(folder, f"{engine}/1", name)
    assert all(torch.equal(saved[key], other[key]) for key in saved)


def agree(folder: Path, name: str) -> None:
    plain, sharded = (losses(folder, engine, name) for engine in ("torch", "zero1"))
    assert len(plain) == len(sharded) == STEPS + 6
    rounding, fall = ROUNDING * plain[0], plain[0] - plain[-1]
    assert sharded == pytest.approx(plain, abs=rounding + NOISE * fall)
    # It learned, so that a step that was not taken would tell.
    assert fall > 3 * rounding


def select(folder: Path, engine: str) -> None:
    """Check that layers were selected by the gradients that one process has in plain torch."""
    plain, other = (
        json.loads((folder / place / "rosa.json").read_text())[0]["layer_selection"]["history"]
        for place in ("torch", engine)
    )
    assert [event["selected"] for event in other] == [event["selected"] for event in plain]
    assert len(plain) == 6  # every second step after the first, which is warm-up
    for one, two in zip(plain, other, strict=True):
        assert two["scores"] == pytest.approx(one["scores"], rel=1e-3)


@pytest.mark.parametrize("engine", SHARED)
def test_two_processes_take_the_steps_of_one_and_save_the_whole_adapter(
    shared: Path, engine: str
) -> None:
    share(shared, engine, "rosa")


@pytest.mark.parametrize("engine", SHARED)
def test_layer_selection_sees_the_gradients_of_all_processes(shared: Path, engine: str) -> None:
    select(shared, engine)


@pytest.mark.parametrize("name", [*COMPARED, "lora+packed"])
@pytest.mark.parametrize("engine", ["torchx2", "zero3x2"])
def test_two_processes_take_the_steps_of_one_with_every_method(
    every_shared: Path, engine: str, name: str
) -> None:
    share(every_shared, engine, WITHOUT_DROPOUT.get(name, name))


@pytest.mark.parametrize("name", ["cascade", "rosa+packed"])
def test_two_processes_take_the_steps_of_one_by_plain_torch(systems: Path, name: str) -> None:
    share(systems, "torchx2", name)


@pytest.mark.parametrize("name", [*SYSTEMS, "rosa+packed"])
def test_zero_one_takes_the_steps_that_torch_takes(systems: Path, name: str) -> None:
    agree(systems, name)


def test_zero_one_in_bfloat16_takes_them_too(halved: Path) -> None:
    agree(halved, REPRESENTATIVE)


@pytest.mark.parametrize("name", EVERY)
def test_every_method_that_calls_itself_safe_takes_them_in_bfloat16(every: Path, name: str) -> None:
    agree(every, name)


def test_hooks_see_the_sum_of_the_gradients_in_float32_fetched_once(halved: Path) -> None:
    found = json.loads((halved / "witness.json").read_text())
    assert found["dtypes"] == ["torch.float32"]
    assert found["distance"] < 1e-6  # in bfloat16 it would be about 4e-3
    assert found["fetches"] == found["parameters"] * found["steps"]


def test_layer_selection_under_zero_one_sees_the_gradients_that_torch_has(systems: Path) -> None:
    select(systems, "zero1")
