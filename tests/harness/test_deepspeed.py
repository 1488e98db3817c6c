"""DeepSpeed ZeRO-1 on one CPU process trains as plain torch does."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# DeepSpeed compiles an operator at its first start.
pytestmark = pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")


def losses(folder: Path) -> list[float]:
    (events,) = folder.glob("runs/*/events.jsonl")
    found = [json.loads(line) for line in events.read_text().splitlines()]
    return [event["loss"] for event in found if "loss" in event]


def test_zero_one_takes_the_steps_that_torch_takes(
    harness: Callable[..., Any], tmp_path: Path
) -> None:
    for engine in ("torch", "deepspeed"):
        (tmp_path / engine).mkdir()
        done = harness(
            tmp_path / engine,
            *("run", "--methods", "dypam", "--tasks", "gsm8k", "--limit", "1"),
            *("--train-limit", "40", "--set", f"train.engine={engine}"),
        )
        assert done.returncode == 0, done.stderr
    plain, sharded = losses(tmp_path / "torch"), losses(tmp_path / "deepspeed")
    assert len(plain) == len(sharded) == 27  # 36 rows, 3 epochs, 4 rows a step
    assert sharded == pytest.approx(plain, rel=1e-3)
    assert min(plain) < plain[0]
