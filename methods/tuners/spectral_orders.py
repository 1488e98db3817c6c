"""Rows and columns of a weight by their place in its spectrum, kept on disk between runs."""

import fcntl
import os
import warnings
from contextlib import AbstractContextManager, nullcontext
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor


def spectral_orders(weight: Tensor) -> dict[str, Tensor]:
    """Return `row_order` (out,) and `column_order` (in,) of a weight (out, in), as int32.

    Each lists the coordinates by ascending spectral role. They are read from the disk if the
    weight was decomposed before. One process at a time decomposes: the others wait and read.
    """
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    file = folder / "peft-proving-ground" / "smoa" / f"{_fingerprint(weight)}.safetensors"
    orders = _read(file, weight.shape)
    if orders is not None:
        return orders
    with _turn(file.parent):
        orders = _read(file, weight.shape)
        if orders is None:
            orders = _decompose(weight)
            _write(file, orders)
    return orders


def _turn(folder: Path) -> AbstractContextManager[object]:
    """Wait until no other process decomposes; where nothing can be written, do not wait."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = folder.with_suffix(".lock").open("w")
    except OSError:
        return nullcontext()
    fcntl.flock(lock, fcntl.LOCK_EX)  # until it is closed
    return lock


def _fingerprint(weight: Tensor) -> str:
    digest = sha256(f"{weight.dtype} {tuple(weight.shape)}".encode())
    digest.update(weight.detach().cpu().contiguous().view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _read(file: Path, shape: torch.Size) -> dict[str, Tensor] | None:
    """Read the orders, or None if there are none or the file is damaged."""
    try:
        orders = load_file(file)
    except (OSError, SafetensorError):
        return None
    found = {name: sorted(order.tolist()) for name, order in orders.items()}
    rows, columns = map(range, shape)
    whole = found == {"row_order": list(rows), "column_order": list(columns)}
    return orders if whole else None


def _write(file: Path, orders: dict[str, Tensor]) -> None:
    """Write the orders, or warn: the file spares time and decides nothing."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=file.parent) as folder:
            unpublished = Path(folder) / file.name
            save_file(orders, unpublished)
            unpublished.replace(file)
    except (OSError, SafetensorError):
        # The same text for every weight, so that Python shows it once.
        warnings.warn(
            f"SMoA cannot write to {file.parent}, so that each run decomposes the backbone. Set "
            "XDG_CACHE_HOME to a folder that can be written.",
            stacklevel=2,
        )


def _decompose(weight: Tensor) -> dict[str, Tensor]:
    device = torch.device("cuda") if torch.cuda.is_available() else weight.device
    precision = torch.float64 if weight.dtype == torch.float64 else torch.float32
    U, s, Vh = torch.linalg.svd(weight.detach().to(device, precision), full_matrices=False)  # noqa: N806
    return {"row_order": _by_role(U * s), "column_order": _by_role(Vh.mT * s)}


def _by_role(loadings: Tensor) -> Tensor:
    """Order coordinates by the mean singular index, weighted with the energy of each index."""
    energy = loadings.square()
    index = torch.arange(energy.shape[1], device=energy.device, dtype=energy.dtype)
    role = energy @ index / energy.sum(dim=1)
    return role.argsort(stable=True).int().cpu()
