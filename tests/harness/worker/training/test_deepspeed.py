"""DeepSpeed ZeRO-1 on one CPU process trains as plain torch does, in float32 and in bfloat16."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness import plugins

# DeepSpeed compiles an operator at its first start.
pytestmark = pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")

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

Trained = Callable[..., Path]


@pytest.fixture(scope="module")
def train(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """Train methods by both engines, in one process: its imports take longer than that."""

    def run(precision: str, *names: str) -> Path:
        folder = tmp_path_factory.mktemp("engines")
        script = [sys.executable, "-m", "tests.harness.worker.training.engines"]
        command = [*script, os.fspath(folder), precision, *names]
        done = subprocess.run(command, capture_output=True, text=True, timeout=580, check=False)
        assert done.returncode == 0, done.stderr
        return folder

    return run


@pytest.fixture(scope="module")
def systems(train: Trained) -> Path:
    return train("float32", *SYSTEMS, "rosa+packed")


@pytest.fixture(scope="module")
def halved(train: Trained) -> Path:
    return train("bfloat16", REPRESENTATIVE)


@pytest.fixture(scope="module")
def every(train: Trained) -> Path:
    return train("bfloat16", *EVERY)


def losses(folder: Path, name: str) -> Iterator[list[float]]:
    """Give the losses of the steps and of the validations by plain torch, and by DeepSpeed."""
    for engine in ("torch", "deepspeed"):
        lines = (folder / engine / f"{name}.jsonl").read_text().splitlines()
        found = [json.loads(line) for line in lines]
        yield [e[key] for key in ("loss", "validation_loss") for e in found if key in e]


def agree(folder: Path, name: str) -> None:
    plain, sharded = losses(folder, name)
    assert len(plain) == len(sharded) == 13 + 6  # 18 rows, 3 epochs, 4 rows a step
    rounding, fall = ROUNDING * plain[0], plain[0] - plain[-1]
    assert sharded == pytest.approx(plain, abs=rounding + NOISE * fall)
    # It learned, so that a step that was not taken would tell.
    assert fall > 3 * rounding


@pytest.mark.parts
@pytest.mark.parametrize("name", [*SYSTEMS, "rosa+packed"])
def test_zero_one_takes_the_steps_that_torch_takes(systems: Path, name: str) -> None:
    agree(systems, name)


@pytest.mark.parts
def test_zero_one_in_bfloat16_takes_them_too(halved: Path) -> None:
    agree(halved, REPRESENTATIVE)


@pytest.mark.parts
@pytest.mark.parametrize("name", EVERY)
def test_every_method_that_calls_itself_safe_takes_them_in_bfloat16(every: Path, name: str) -> None:
    agree(every, name)


def test_hooks_see_the_sum_of_the_gradients_in_float32_fetched_once(halved: Path) -> None:
    found = json.loads((halved / "witness.json").read_text())
    assert found["dtypes"] == ["torch.float32"]
    assert found["distance"] < 1e-6  # in bfloat16 it would be about 4e-3
    assert found["fetches"] == found["parameters"] * found["steps"]


@pytest.mark.parts
def test_layer_selection_under_zero_one_sees_the_gradients_that_torch_has(systems: Path) -> None:
    plain, sharded = (
        json.loads((systems / engine / "rosa.json").read_text())
        for engine in ("torch", "deepspeed")
    )
    histories = [one[0]["layer_selection"]["history"] for one in (plain, sharded)]
    assert [event["selected"] for event in histories[0]] == [
        event["selected"] for event in histories[1]
    ]
    assert len(histories[0]) == 6  # every second step after the first, which is warm-up
    for one, other in zip(*histories, strict=True):
        assert other["scores"] == pytest.approx(one["scores"], rel=1e-3)
