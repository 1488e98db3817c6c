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

IN_FORKS = """
import os, sys, torch
from harness import gpus
for visible in [None, *sys.argv[1:]]:
    if os.fork() == 0:
        if visible is not None:
            os.environ["CUDA_VISIBLE_DEVICES"] = visible
        print(repr(visible), gpus.there(), torch.cuda.is_available(), flush=True)
        os._exit(0)
    os.wait()
"""
"""Each answer in a process of its own, since torch asks its driver once."""


def test_without_a_driver_nobody_asks_torch(python: Callable[..., Any]) -> None:
    if any(driver.exists() for driver in gpus.DRIVERS):
        pytest.skip("this machine has one")
    assert python(ASK).stdout.split() == ["False", "False"]


def test_the_answer_is_that_of_torch(
    python: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    visible = ["", "0", "7", "0,1", "-1", "GPU-none"]
    printed = python(IN_FORKS, *visible, PYTORCH_NVML_BASED_CUDA_CHECK="1").stdout
    answers = [line.split() for line in printed.splitlines()]
    assert [one for one, _, _ in answers] == [repr(one) for one in [None, *visible]]
    assert [told for _, told, _ in answers] == [meant for _, _, meant in answers]


def test_a_driver_beside_a_torch_for_cpus_is_no_gpu(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpus, "DRIVERS", (tmp_path,))
    if torch.version.cuda or torch.version.hip:
        pytest.skip("this torch is for GPUs")
    assert not gpus.there()
