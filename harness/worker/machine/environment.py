"""The stack that a run ran on: stored beside the spec, never inside it."""

import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from harness.worker.machine.determinism import MODES
from harness.worker.machine.version import commit
from harness.worker.machine.version import version as harness_version
from results.runfolder.values import Environment

PACKAGES = (
    "torch",
    "transformers",
    "peft",
    "accelerate",
    "deepspeed",
    "tokenizers",
    "safetensors",
    "sacrebleu",
    "rouge-score",
    "nltk",
)


def describe(memory: Mapping[str, Any], *, quantized: bool = False) -> Environment:
    """Describe packages, interpreter, device, commit, and what traded memory for time.

    The package that quantizes is one of them where it was used.
    """
    used = (*PACKAGES, "bitsandbytes") if quantized else PACKAGES
    return Environment(
        packages={name: version(name) for name in used if _installed(name)},
        python=platform.python_version(),
        torch=torch.__version__,
        device=device_name(),
        driver=_driver() if torch.cuda.is_available() else None,
        machine={"host": platform.node(), "threads": torch.get_num_threads()},
        harness={"version": harness_version(), **commit()},
        memory=memory,
        determinism=MODES,
    )


def device_name() -> str:
    """Name the GPU, or the processor where there is none."""
    if torch.cuda.is_available():
        return torch.cuda.get_device_name()
    models = [
        line.partition(":")[2].strip()
        for line in _lines(Path("/proc/cpuinfo"))
        if line.startswith("model name")
    ]
    return f"CPU {models[0] if models else platform.processor() or platform.machine()}"


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _driver() -> str:
    lines = _lines(Path("/proc/driver/nvidia/version"))
    return lines[0] if lines else ""


def _installed(name: str) -> bool:
    try:
        return bool(version(name))
    except ModuleNotFoundError:
        return False
