"""Results that are kept, and when a file counts as unchanged."""

import os
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.worker.kept import kept, stamps
from results import kept as module


def test_a_result_is_kept_for_the_very_rows_and_for_equal_other_arguments() -> None:
    calls = []

    @kept(4)
    def work(rows: Sequence[int], *others: object) -> list[object]:
        calls.append((rows, others))
        return [*rows, *others]

    rows = [1, 2]
    assert work(rows, "a", [3]) is work(rows, "a", [3])
    assert work(rows, "a", [3]) == [1, 2, "a", (3,)]
    assert len(calls) == 1
    assert work([1, 2], "a", [3]) == work(rows, "a", [3])
    assert len(calls) == 2
    work(rows, "b", [3])
    assert len(calls) == 3


def test_only_the_last_results_are_kept() -> None:
    calls = []

    @kept(2)
    def work(rows: tuple[int, ...]) -> int:
        calls.append(rows)
        return len(calls)

    first, second, third = (0,), (1,), (2,)
    assert [work(first), work(second), work(third), work(third), work(first)] == [1, 2, 3, 3, 4]


def test_nothing_is_kept_of_what_failed() -> None:
    faults = [ValueError("once")]

    @kept(2)
    def work(rows: tuple[int, ...]) -> int:
        if faults:
            raise faults.pop()
        return len(rows)

    rows = (1, 2)
    with pytest.raises(ValueError, match="once"):
        work(rows)
    assert work(rows) == 2


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a file that is taken for old at once."""
    monkeypatch.setattr(module, "YOUNG", 0.0)
    file = tmp_path / "rows.json"
    file.write_text("[1]")
    return file


def test_a_file_is_unchanged_until_it_is_written(old: Path) -> None:
    before = stamps([old])
    assert stamps([old]) == before
    time.sleep(0.02)  # a tick of the file system's clock
    old.write_text("[2]")
    assert stamps([old]) != before


def test_neither_a_copy_in_its_place_nor_an_earlier_date_hides_a_change(old: Path) -> None:
    before, was = stamps([old]), old.stat()
    time.sleep(0.02)
    old.write_text("[2]")
    os.utime(old, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert (old.stat().st_size, old.stat().st_mtime_ns) == (was.st_size, was.st_mtime_ns)
    assert stamps([old]) != before
    before = stamps([old])
    other = old.with_name("other")
    shutil.copy2(old, other)
    other.replace(old)
    assert stamps([old]) != before


def test_what_changed_a_moment_ago_or_is_not_there_equals_nothing(tmp_path: Path) -> None:
    young = tmp_path / "young"
    young.write_text("1")
    for path in (young, tmp_path / "none"):
        assert stamps([path]) != stamps([path])
