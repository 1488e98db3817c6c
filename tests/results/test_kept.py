"""What is kept of analyses: computed once, never out of date, never in the way."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from results import kept as module
from results.kept import Shelf, kept


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "peft-proving-ground" / "analyses"


class Counted:
    """Computes a value, and counts how often it was asked to."""

    def __init__(self, value: Any) -> None:
        self.value, self.times = value, 0

    def __call__(self) -> Any:
        self.times += 1
        return self.value


def test_a_value_is_computed_once_for_each_key() -> None:
    keys = [["mcnemar", {"ab": b"\x01"}], ["mcnemar", {"ab": b"\x02"}], ["sign flip", {}], []]
    computed = [Counted({"p": number / 3, "pairs": [None, "lora"]}) for number in range(len(keys))]
    for _ in range(3):
        found = [kept(key, compute) for key, compute in zip(keys, computed, strict=True)]
        assert found == [compute.value for compute in computed]
    assert [compute.times for compute in computed] == [1, 1, 1, 1]


def test_what_comes_back_does_not_depend_on_whether_it_was_kept() -> None:
    assert kept("key", lambda: {"shape": (1, 2)}) == kept("key", Counted(0)) == {"shape": [1, 2]}


def test_a_value_of_other_code_is_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kept("key", lambda: 1)
    monkeypatch.setattr(module, "_code", lambda shelf: "another hash")
    assert kept("key", lambda: 2) == 2


@pytest.mark.parametrize("content", [b"", b'{"value": 1', b"\xff\xfe", b"[1]", b"ab\n[1]"])
def test_a_damaged_entry_is_computed_anew(folder: Path, content: bytes) -> None:
    kept("key", lambda: 1)
    (entry,) = folder.iterdir()
    entry.write_bytes(content)
    assert kept("key", lambda: 2) == 2
    assert kept("key", Counted(3)) == 2


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_changed_byte_of_an_entry_changes_a_value(folder: Path, data: st.DataObject) -> None:
    kept("key", lambda: {"r": 8})
    (entry,) = folder.iterdir()
    whole = entry.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    other = data.draw(st.integers(0, 255).filter(lambda byte: byte != whole[place]))
    entry.write_bytes(whole[:place] + bytes([other]) + whole[place + 1 :])
    assert kept("key", lambda: {"r": 8}) == {"r": 8}


def test_nothing_is_kept_where_no_file_can_be_written(folder: Path) -> None:
    folder.parent.mkdir(parents=True)
    folder.write_text("a file, where the folder should be")
    assert [kept("key", lambda: 1), kept("key", lambda: 2)] == [1, 2]


def test_what_is_kept_of_another_room_has_a_folder_of_its_own(folder: Path) -> None:
    charts = Shelf("charts", (Path(module.__file__),))
    assert [kept("key", lambda: 1), kept("key", lambda: 2, charts)] == [1, 2]
    assert kept("key", Counted(3), charts) == 2
    assert [len(list((folder.parent / name).iterdir())) for name in ("analyses", "charts")] == [
        1,
        1,
    ]


def test_an_error_is_not_kept(folder: Path) -> None:
    def fail() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        kept("key", fail)
    assert not folder.exists()


def test_the_entries_that_were_not_used_for_longest_go(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST", 3)
    for name in "abc":
        kept(name, lambda: 1)
    for age, entry in enumerate(folder.iterdir()):
        os.utime(entry, (age, age))
    kept("a", lambda: 1)  # used now
    kept("d", lambda: 1)
    assert len(list(folder.iterdir())) == 3
    assert [kept(name, lambda: 2) for name in "da"] == [1, 1]


KEEP = """
import sys
from results.kept import kept
for number in range(200):
    assert kept(number % 5, lambda: ["x" * 10000, number % 5])[1] == number % 5
"""


def test_processes_that_write_at_once_read_whole_entries(folder: Path) -> None:
    processes = [subprocess.Popen([sys.executable, "-c", KEEP]) for _ in range(4)]
    assert [process.wait() for process in processes] == [0, 0, 0, 0]
    assert len(list(folder.iterdir())) == 5
