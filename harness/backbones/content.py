"""The hash of a backbone's folder: its weights, configuration and tokenizer."""

import contextlib
import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile

LARGE = 1 << 28
"""Bytes from which on a folder's hash is kept on disk: each byte is read for it."""


def content_hash(folder: Path, paths: Sequence[Path]) -> str:
    """Hash files of a folder by name, size and content.

    The hash of a large folder is read from the disk if its files have the sizes and time stamps
    that they had when it was taken.
    """
    facts = {path.name: path.stat() for path in paths}
    stamps = [(name, fact.st_size, fact.st_mtime_ns) for name, fact in facts.items()]
    if sum(size for _, size, _ in stamps) < LARGE:
        return _taken(paths)
    key = sha256(f"{folder.resolve()} {stamps}".encode()).hexdigest()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    kept = cache / "peft-proving-ground" / "backbones" / key
    if kept.exists():
        return kept.read_text()
    taken = _taken(paths)
    # The file only spares time.
    with contextlib.suppress(OSError):
        _write(kept, taken)
    return taken


def _taken(paths: Sequence[Path]) -> str:
    total = sha256()
    for path in paths:
        total.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            while part := file.read(1 << 24):
                total.update(part)
    return f"sha256:{total.hexdigest()[:32]}"


def _write(kept: Path, text: str) -> None:
    """Write a file that other processes see whole or not at all."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile("w", dir=kept.parent, delete=False) as file:
        file.write(text)
    Path(file.name).replace(kept)
