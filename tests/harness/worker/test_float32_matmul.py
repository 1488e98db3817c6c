"""`--float32-matmul`: a field of the spec that the worker sets."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.spec.spec import Spec
from results.runfolder.folder import RunFolder

TELLING = """'LoRA that records how float32 matrices are multiplied.'
from dataclasses import replace
import torch
from methods.lora import method as lora
from methods.training.hooks import StepHooks
class Telling(StepHooks):
    def __init__(self, model, ahead):
        pass
    def record(self):
        return {"products": torch.get_float32_matmul_precision()}
method = replace(lora, hooks=Telling)
"""
SHORT = ("--limit", "1", "--train-limit", "20", "--set", "protocol.max_new_tokens=1")


@pytest.mark.parts
def test_a_run_multiplies_as_its_spec_says(harness: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "telling.py").write_text(TELLING)
    chosen = ("--float32-matmul", "high")
    done = harness(tmp_path, "run", "--methods", "telling.py", "--tasks", "gsm8k", *SHORT, *chosen)
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "runs").iterdir()
    assert RunFolder(folder).method_record() == {"products": "high"}


def test_another_precision_of_products_is_another_run_and_is_told(
    spec: Callable[..., Spec],
) -> None:
    plain, high = spec(), spec(float32_matmul="high")
    assert "float32_matmul" not in plain.model_dump(mode="json")
    assert plain.run_id != high.run_id
    assert plain.setting != high.setting
    assert "float32 products in high precision" in high.marks
