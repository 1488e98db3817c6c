"""Whether torch would compute on a GPU, asked without importing it where that can be told."""

import ctypes
import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

Device = Literal["cpu", "gpu"]

DRIVERS = tuple(map(Path, ("/dev/nvidiactl", "/dev/dxg", "/dev/nvmap", "/dev/kfd")))
"""What the driver of a GPU offers: NVIDIA's, under WSL, on Tegra; AMD's."""

LIBRARY = "libnvidia-ml.so.1"
"""What NVIDIA's driver says of its cards without CUDA; torch asks it too."""


def there() -> bool:
    """Say what `torch.cuda.is_available` says."""
    if not possible():
        return False
    visible, cards = os.environ.get("CUDA_VISIBLE_DEVICES", "0"), _cards()
    if cards and visible.isdecimal():
        return int(visible) < cards
    # Lists, names and parts of cards, and other makers' cards, are torch's to understand.
    import torch  # noqa: PLC0415 (start-up time)

    return torch.cuda.is_available()


def meant(device: Device | None) -> bool:
    """Say whether runs are for GPUs: as the user says, else as this machine is."""
    return there() if device is None else device == "gpu"


def possible() -> bool:
    """Whether there is a driver, and a torch that is built for GPUs."""
    return any(driver.exists() for driver in DRIVERS) and _built_for_gpus()


def _built_for_gpus() -> bool:
    """Whether the installed torch has code for any GPU, by its own record."""
    spec = find_spec("torch")
    assert spec
    assert spec.origin
    record = Path(spec.origin).with_name("version.py").read_text()
    return re.search(r"^(cuda|hip)\b[^=]*= *'", record, re.MULTILINE) is not None


def _cards() -> int:
    """Count the cards that NVIDIA's driver lists; none where it does not answer."""
    count = ctypes.c_uint(0)
    try:
        driver = ctypes.CDLL(LIBRARY)
        driver.nvmlInit_v2()
        driver.nvmlDeviceGetCount_v2(ctypes.byref(count))
    except (OSError, AttributeError):
        return 0
    return count.value
