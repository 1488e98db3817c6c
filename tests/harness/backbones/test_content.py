"""The kept hash of a folder: the same as one that is taken, and never of other files."""

import os
import time
from hashlib import sha256
from pathlib import Path

import pytest

from harness.backbones.content import content_hash
from results import kept


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write a file of weights that counts as old at once, so that its hash is kept."""
    monkeypatch.setattr(kept, "YOUNG", 0.0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tmp_path / "model" / "model.safetensors"
    file.parent.mkdir()
    file.write_bytes(b"0123456789")
    return file


def rewritten(file: Path, text: bytes, later: int = 0) -> None:
    """Change a file, and its time stamp by so many nanoseconds."""
    stamp = file.stat().st_mtime_ns + later
    time.sleep(0.02)  # a tick of the file system's clock
    file.write_bytes(text)
    os.utime(file, ns=(stamp, stamp))


def test_the_hash_of_a_folder_is_not_taken_again_while_its_files_stay(
    weights: Path, tmp_path: Path
) -> None:
    content_hash(weights.parent, [weights])
    (entry,) = (tmp_path / "cache").rglob("*.json")
    text = '"as it was kept"'
    entry.write_text(f"{sha256(text.encode()).hexdigest()}\n{text}")
    assert content_hash(weights.parent, [weights]) == "as it was kept"


@pytest.mark.parametrize(
    ("text", "later"), [(b"9876543210", 1), (b"98765432", 0), (b"9876543210", 0)]
)
def test_other_weights_are_another_hash_even_of_the_same_size_and_date(
    weights: Path, text: bytes, later: int
) -> None:
    taken = content_hash(weights.parent, [weights])
    rewritten(weights, text, later)
    assert content_hash(weights.parent, [weights]) != taken


def test_the_kept_hash_is_the_taken_one_and_a_cache_that_cannot_be_written_changes_nothing(
    weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [content_hash(weights.parent, [weights]) for _ in range(2)]
    monkeypatch.setenv("XDG_CACHE_HOME", str(weights))
    unkept = content_hash(weights.parent, [weights])
    monkeypatch.setattr(kept, "YOUNG", 60.0)
    assert {*found, unkept} == {content_hash(weights.parent, [weights])}
