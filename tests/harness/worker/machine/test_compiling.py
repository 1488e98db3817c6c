"""Torch's lock of a folder in which it compiles; a process that ends closes what it has open."""

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as StillWaiting
from pathlib import Path

import pytest
from torch.utils import cpp_extension
from torch.utils.file_baton import FileBaton

from harness.worker.machine import compiling
from harness.worker.machine.compiling import Baton

SECONDS = 20


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "lock"


@pytest.fixture
def elsewhere() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def die(baton: FileBaton) -> None:
    """Leave behind what a process does that is killed while it compiles."""
    os.close(baton.fd)
    if isinstance(baton, Baton):
        baton._turn.close()


def waits(turn: "Future[bool]") -> bool:
    try:
        turn.result(3 * compiling.SECONDS)
    except StillWaiting:
        return True
    return False


@pytest.mark.parametrize("kind", [FileBaton, Baton])
def test_a_lock_that_a_killed_process_left_stops_nobody(lock: Path, kind: type[FileBaton]) -> None:
    killed = kind(str(lock))
    assert killed.try_acquire()
    die(killed)
    assert lock.exists()
    following = Baton(str(lock))
    assert following.try_acquire()
    following.release()
    assert not lock.exists()


@pytest.mark.parametrize("kind", [FileBaton, Baton])
def test_who_comes_while_another_compiles_waits_and_then_compiles(
    lock: Path, kind: type[FileBaton], elsewhere: ThreadPoolExecutor
) -> None:
    first = kind(str(lock))
    assert first.try_acquire()
    second = Baton(str(lock))
    turn = elsewhere.submit(second.try_acquire)
    waited = waits(turn)
    first.release()
    assert waited
    assert turn.result(SECONDS)
    second.release()


def test_who_waits_for_one_that_is_killed_compiles_in_its_place(
    lock: Path, elsewhere: ThreadPoolExecutor
) -> None:
    first, second = Baton(str(lock)), Baton(str(lock))
    assert first.try_acquire()
    turn = elsewhere.submit(second.try_acquire)
    waited = waits(turn)
    die(first)
    assert waited
    assert turn.result(SECONDS)
    second.release()


def test_torch_compiles_behind_this_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpp_extension, "FileBaton", FileBaton)
    compiling.install()
    assert cpp_extension.FileBaton is Baton
    assert "FileBaton(" in Path(cpp_extension.__file__).read_text()
