"""Exceptions from strict training: operations that torch has in no deterministic form.

The harness trains under `torch.use_deterministic_algorithms(True)`, which raises at such an
operation. A method that needs one wraps it, and its name is then a warning that the run records.
Excepted are, by the names that torch gives the CUDA kernels:

- `cumsum_cuda_kernel`: the means over a prefix in `tuners/prefix.py`;
- `kthvalue CUDA`: the threshold of AdaLoRA's budget. Only the index varies, and it is not used.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def excepted() -> Iterator[None]:
    """Let an operation warn where it would raise; do nothing unless training is strict."""
    strict = torch.are_deterministic_algorithms_enabled()
    strict &= not torch.is_deterministic_algorithms_warn_only_enabled()
    if strict:
        torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        if strict:
            torch.use_deterministic_algorithms(True)
