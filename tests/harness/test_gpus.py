"""Whether there is a GPU is told as torch tells it, and without torch where there is no driver."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from harness import gpus

ASK = """
import sys
from harness import gpus
print(gpus.there(), "torch" in sys.modules)
"""


def test_without_a_driver_nobody_asks_torch(python: Callable[..., Any]) -> None:
    if any(driver.exists() for driver in gpus.DRIVERS):
        pytest.skip("this machine has one")
    assert python(ASK).stdout.split() == ["False", "False"]


@pytest.mark.parametrize("visible", [None, "", "0", "7", "0,1", "-1", "GPU-none"])
def test_the_answer_is_that_of_torch(
    visible: str | None, python: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    environment = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    script = (
        "import torch; from harness import gpus; print(gpus.there(), torch.cuda.is_available())"
    )
    told, meant = python(script, PYTORCH_NVML_BASED_CUDA_CHECK="1", **environment).stdout.split()
    assert told == meant


def test_a_driver_beside_a_torch_for_cpus_is_no_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpus, "DRIVERS", (tmp_path,))
    if torch.version.cuda or torch.version.hip:
        pytest.skip("this torch is for GPUs")
    assert not gpus.there()
