"""What a backbone's files hold: the hash of a folder, and whether a file of the hub is whole."""

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha1, sha256
from pathlib import Path
from typing import TYPE_CHECKING

from results.kept import Shelf, kept, stamp

if TYPE_CHECKING:
    from hashlib import _Hash

GIT, LFS = 40, 64
"""Hex digits of the hashes by which the hub's cache names files: git's SHA-1, and SHA-256."""

HASHES = Shelf("backbones", (Path(__file__),))


def content_hash(folder: Path, paths: Sequence[Path]) -> str:
    """Hash files of a folder by name, size and content.

    The hash is kept on disk, and taken again when a file was changed.
    """

    def taken() -> str:
        total = sha256()
        for path in paths:
            total.update(f"{path.name}\0{path.stat().st_size}\0".encode())
            for part in _parts(path):
                total.update(part)
        return f"sha256:{total.hexdigest()[:32]}"

    return _kept(str(folder.resolve()), paths, taken)


def named_by_content(path: Path) -> bool:
    """Whether a file is a link to one of the hub's cache, which is named after what it holds."""
    return path.is_symlink() and len(path.resolve().name) in (GIT, LFS)


def blob_hash(path: Path) -> str:
    """Hash a file of the hub's cache by what the cache names it after, if it is still that.

    A large file is named by its SHA-256, another one by git's hash of it; mirrors of the hub give
    its plain SHA-1 too.

    Args:
        path: A link to the file in the cache.

    Returns:
        The name that the file has if it is whole; else that which its content would have.
    """
    blob = path.resolve()
    if len(blob.name) == LFS:
        return _kept("sha256", [blob], lambda: _digest(blob, sha256()))
    header = f"blob {blob.stat().st_size}\0".encode()
    plain = _digest(blob, sha1(usedforsecurity=False))
    git = _digest(blob, sha1(header, usedforsecurity=False))
    return plain if plain == blob.name else git


def _digest(path: Path, total: "_Hash") -> str:
    for part in _parts(path):
        total.update(part)
    return total.hexdigest()


def _parts(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while part := file.read(1 << 24):
            yield part


def _kept(of: str, paths: Sequence[Path], take: Callable[[], str]) -> str:
    """Take a hash of files once, until one of them changes."""
    stamps = [stamp(path) for path in paths]
    if None in stamps:
        return take()
    found: str = kept([of, stamps], take, HASHES)
    return found
