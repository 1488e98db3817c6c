"""Checkpoints on the disk."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import Tensor

from harness.worker.training.checkpoint import Checkpoints, randomness, restore_randomness

FILES = ("tensors.safetensors", "values.json", "sha256.json")


def state(step: int) -> dict[str, Any]:
    return {"tokens": 10 * step, "moments": [{"exp_avg": torch.full((2, 3), float(step))}, None]}


def written(folder: Path, *steps: int) -> Checkpoints:
    checkpoints = Checkpoints(folder, minutes=10)
    for step in steps:
        checkpoints.write(step, state(step))
    return checkpoints


def steps_of(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir())


def same(found: Any, expected: Any) -> bool:
    if isinstance(expected, Tensor):
        return found.dtype == expected.dtype and torch.equal(found, expected)
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[n], expected[n]) for n in found)
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(same, found, expected))
    return bool(found == expected)


TENSORS = st.one_of(
    arrays("float32", (2, 3), elements=st.floats(width=32, allow_nan=False)),
    arrays("int64", (4,)),
    arrays("uint8", ()),
).map(torch.from_numpy) | st.just(torch.ones(3, 2, dtype=torch.bfloat16).T)
LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
STATES = st.dictionaries(
    st.text(),
    st.recursive(
        TENSORS | LEAVES,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)


@given(given_state=STATES)
def test_a_state_comes_back_to_the_bit(
    tmp_path_factory: pytest.TempPathFactory, given_state: dict[str, Any]
) -> None:
    checkpoints = Checkpoints(tmp_path_factory.mktemp("run") / "checkpoints", minutes=10)
    checkpoints.write(7, given_state)
    found = checkpoints.newest()
    assert found
    assert found[0] == 7
    assert same(found[1], given_state)


def test_two_tensors_of_one_storage_come_back_as_two(tmp_path: Path) -> None:
    both = torch.arange(6.0)
    checkpoints = Checkpoints(tmp_path, minutes=10)
    checkpoints.write(1, {"all": both, "again": both, "half": both[::2]})
    found = checkpoints.newest()
    assert found
    assert same(found[1], {"all": both, "again": both, "half": both[::2]})


def test_there_is_none_where_none_was_written(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path / "checkpoints", minutes=10).newest() is None


def test_the_newest_two_are_kept_by_number_and_not_by_text(tmp_path: Path) -> None:
    newest = written(tmp_path, 8, 9, 10).newest()
    assert steps_of(tmp_path) == ["10", "9"]
    assert newest
    assert newest[0] == 10


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("damage", ["flipped", "cut", "empty", "missing", "folder", "fifo"])
def test_a_damaged_one_is_named_and_set_aside_and_the_one_before_is_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, damage: str
) -> None:
    checkpoints, file = written(tmp_path, 3, 6), tmp_path / "6" / name
    content = file.read_bytes()
    file.unlink()
    if damage == "folder":
        file.mkdir()
    elif damage == "fifo":
        os.mkfifo(file)
    elif damage != "missing":
        middle = len(content) // 2
        flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        file.write_bytes({"flipped": flipped, "cut": content[:middle], "empty": b""}[damage])
    found = checkpoints.newest()
    assert found
    assert found[0] == 3
    assert same(found[1], state(3))
    assert f"The checkpoint {tmp_path / '6'} cannot be used: " in capsys.readouterr().out
    assert steps_of(tmp_path) == ["3", "6.damaged"]


def test_where_all_are_damaged_the_training_starts_again(tmp_path: Path) -> None:
    checkpoints = written(tmp_path, 3, 6)
    for step in ("3", "6"):
        (tmp_path / step / "values.json").write_text(json.dumps({"tokens": 0}))
    assert checkpoints.newest() is None
    checkpoints.write(3, state(3))
    found = checkpoints.newest()
    assert found
    assert found[0] == 3


def test_what_a_kill_left_half_written_or_half_removed_is_no_checkpoint(tmp_path: Path) -> None:
    checkpoints = written(tmp_path, 3, 6)
    for left in ("new.partial", "old.partial"):
        shutil.copytree(tmp_path / "6", tmp_path / left)
        (tmp_path / left / "values.json").unlink()
    found = checkpoints.newest()
    assert found
    assert found[0] == 6
    for step in (9, 12):
        checkpoints.write(step, state(step))
    assert steps_of(tmp_path) == ["12", "9"]


def test_where_the_disk_takes_none_that_is_said_and_the_work_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "checkpoints"
    folder.touch()  # a file, in which no folder can be made
    Checkpoints(folder, minutes=10).write(3, state(3))
    assert "No checkpoint could be written after step 3: " in capsys.readouterr().out


def test_an_old_one_that_cannot_be_removed_stays_and_the_work_goes_on(tmp_path: Path) -> None:
    (tmp_path / "old.partial").touch()  # a file, by which no folder can be replaced
    newest = written(tmp_path, 3, 6, 9).newest()
    assert steps_of(tmp_path) == ["3", "6", "9", "old.partial"]
    assert newest
    assert newest[0] == 9


def test_one_of_another_format_is_set_aside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoints, file = written(tmp_path, 3, 6), tmp_path / "6" / "sha256.json"
    noted = json.loads(file.read_text())
    file.write_text(json.dumps({**noted, "format": noted["format"] + 1}))
    found = checkpoints.newest()
    assert found
    assert found[0] == 3
    assert "6 cannot be used: another version of the harness wrote it" in capsys.readouterr().out


def test_random_numbers_go_on_where_there_are_fewer_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    put: list[tuple[int, Tensor]] = []
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda one, gpu: put.append((gpu, one)))
    first, second = torch.ones(16, dtype=torch.uint8), torch.zeros(16, dtype=torch.uint8)
    restore_randomness({**randomness(), "cuda": [first, second]})
    assert put == [(0, first)]


def test_one_is_due_at_once_or_after_the_minutes_that_were_asked_for(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path, minutes=0).due
    assert not Checkpoints(tmp_path, minutes=10).due


SHARED = """
import sys
from pathlib import Path
import torch
from harness.worker.ranks import together
from harness.worker.training.checkpoint import Checkpoints, randomness, restore_randomness

folder = Path(sys.argv[1])

def work(rank):
    rank.join()
    checkpoints = Checkpoints(folder, 10, rank)
    own = {"random": torch.tensor([rank.number])}
    alike = {} if rank.number else {"tokens": 7, "random": None}
    for step in (1, 2, 3):
        if rank.number and step == 3:  # its disk takes nothing
            (folder / "rank1.partial").touch()
        checkpoints.write(step, alike | own)
    for damaged in (None, "2/rank1/values.json", "1/rank1/sha256.json"):
        rank.wait()
        if damaged and not rank.number:
            (folder / damaged).unlink()
        step, state = checkpoints.newest() or (0, {})
        (folder.parent / f"{rank.number}.txt").open("a").write(f"{step} {state}\\n")
    rank.leave()

with together(2, work, print) as own:
    work(own)
"""


def test_of_two_ranks_each_finds_its_own_in_the_newest_that_both_could_write_and_read(
    tmp_path: Path,
) -> None:
    command = [sys.executable, "-c", SHARED, os.fspath(tmp_path / "checkpoints")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("No checkpoint could be written after step 3: ")
    for rank in (0, 1):
        found = (tmp_path / f"{rank}.txt").read_text().splitlines()
        own = f"{{'tokens': 7, 'random': tensor([{rank}])}}"
        assert found == [f"2 {own}", f"1 {own}", "0 {}"]
