"""What a journal keeps of each phase."""

import time
from pathlib import Path

from harness.worker.journal import Journal


def test_memory_counts_for_the_phase_in_which_it_was_held(tmp_path: Path) -> None:
    # What a GPU would say at each change of phase: the most since the last one.
    said = iter([900, 10, 300, 500, 200, 70])
    journal = Journal(tmp_path / "events.jsonl", lambda: {"allocated": next(said)})
    with journal, journal.phase("train"):
        with journal.phase("validate"):
            pass
        with journal.phase("validate"):
            pass
    # 900 was held before the first phase.
    peaks = {phase: peak["allocated"] for phase, peak in journal.peak_memory.items()}
    assert peaks == {"train": max(10, 500, 70), "validate": max(300, 200)}


def test_where_nothing_tells_the_memory_none_is_kept(tmp_path: Path) -> None:
    with Journal(tmp_path / "events.jsonl") as journal, journal.phase("train"):
        pass
    assert journal.peak_memory == {}


def test_seconds_of_phases_at_work_count_once(tmp_path: Path) -> None:
    with Journal(tmp_path / "events.jsonl") as journal, journal.phase("train"):
        time.sleep(0.02)
        with journal.phase("validate"):
            time.sleep(0.02)
            within = journal.so_far()
        after = journal.so_far()
    assert min(within.values()) >= 0.02
    assert within["train"] <= after["train"] <= journal.seconds["train"]
    assert after["validate"] == journal.seconds["validate"] >= within["validate"]
    assert journal.so_far() == journal.seconds
