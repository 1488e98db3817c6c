"""Deterministic kernels: demanded in training, asked for elsewhere, and a record of the others.

Where torch may warn, attention keeps a backward pass that is not deterministic although there is
one that is. So training is strict: a kernel without a deterministic form ends the run, but for the
places that `methods.training.determinism` excepts.
"""

import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

MODES = {"training": "strict", "evaluation": "warn"}
"""What the environment record says of a run."""

WARNING = r"(.+?) (?:does not have a deterministic impl|defaults to a non-deterministic alg)"
"""How the warnings of torch begin, with the name of the kernel."""


def ask() -> None:
    """Ask for deterministic kernels where there are any, before CUDA starts."""
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    torch.use_deterministic_algorithms(True, warn_only=True)
    # Every new tensor would be filled first, to find reads of what was never written.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


@contextmanager
def strict() -> Iterator[None]:
    """Demand deterministic kernels.

    Raises:
        RuntimeError: Of torch, in the block: a kernel has no deterministic form.
    """
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(True, warn_only=True)


@contextmanager
def noted() -> Iterator[set[str]]:
    """Collect the names of the kernels that torch warns of; each warning is printed once."""
    names: set[str] = set()
    with warnings.catch_warnings():
        show = warnings.showwarning

        def note(message: Warning | str, *place: Any, **options: Any) -> None:
            if found := re.match(WARNING, str(message)):
                names.add(found[1])
            show(message, *place, **options)

        warnings.filterwarnings("once", WARNING)
        warnings.showwarning = note
        yield names
