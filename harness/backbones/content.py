"""The hash of a backbone's folder: its weights, configuration and tokenizer."""

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from results.kept import Shelf, kept, stamp

LARGE = 1 << 28
"""Bytes from which on a folder's hash is kept on disk: each byte is read for it."""

HASHES = Shelf("backbones", (Path(__file__),))


def content_hash(folder: Path, paths: Sequence[Path]) -> str:
    """Hash files of a folder by name, size and content.

    The hash of a large folder is kept on disk, and taken again when a file was changed.
    """
    stamps = [stamp(path) for path in paths]
    if None in stamps or sum(path.stat().st_size for path in paths) < LARGE:
        return _taken(paths)
    found: str = kept([str(folder.resolve()), stamps], lambda: _taken(paths), HASHES)
    return found


def _taken(paths: Sequence[Path]) -> str:
    total = sha256()
    for path in paths:
        total.update(f"{path.name}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            while part := file.read(1 << 24):
                total.update(part)
    return f"sha256:{total.hexdigest()[:32]}"
