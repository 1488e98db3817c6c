"""Which card, which versions, which commit."""

import subprocess

import torch

from benchmarks.gpu.process import ROOT
from harness.worker.machine import environment

PACKAGES = ("transformers", "peft", "accelerate", "deepspeed")
PAGE = "benchmarks/gpu.md"


def describe() -> dict[str, str]:
    """Describe what figures come from."""
    found = environment.describe({})
    changed = found.harness["dirty"] and _changed()
    versions = {name: found.packages[name] for name in PACKAGES if name in found.packages}
    return {
        "card": found.device,
        "driver": found.driver or "none",
        "torch": found.torch,
        "CUDA": torch.version.cuda or "none",
        **versions,
        "Python": found.python,
        "commit": found.harness["commit"] + (", with changes" if changed else ""),
    }


def _changed() -> bool:
    """Whether the files differ from the commit, the page of these figures aside."""
    command = ["git", "status", "--porcelain", "--", ".", f":!{PAGE}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return bool(done.stdout)
