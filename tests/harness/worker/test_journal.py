"""What a journal keeps of each phase."""

import time
from collections.abc import Sequence
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


def test_what_a_phase_within_a_phase_takes_does_not_count_for_it(tmp_path: Path) -> None:
    now = 0.0
    journal = Journal(tmp_path / "events.jsonl", clock=lambda: now)
    with journal, journal.phase("train"):
        now += 5
        with journal.phase("validate"):
            now += 2
        now += 1
        assert journal.spent(["train"])["seconds"] == {"train": 6}
        now += 1
    assert journal.seconds == {"train": 7, "validate": 2}


def test_what_an_earlier_attempt_spent_is_added(tmp_path: Path) -> None:
    now, peak = 0.0, 0
    events = tmp_path / "events.jsonl"
    first = Journal(events, lambda: {"allocated": peak}, lambda: now)
    with first, first.phase("load"):
        now += 100
        with first.phase("train"):
            now, peak = now + 10, 900
            spent = first.spent(["train", "validate"])
    peak = 20
    with Journal(events, lambda: {"allocated": peak}, lambda: now) as second:
        second.go_on(spent)
        with second.phase("train"):
            now += 3
    assert second.total() == {"train": 13}
    assert second.so_far() == {"train": 3}
    assert second.peak_memory == {"train": {"allocated": 900}}


def test_of_several_processes_a_phase_has_the_memory_of_the_one_that_held_most(
    tmp_path: Path,
) -> None:
    others = {"train": {"allocated": 5, "reserved": 9}, "validate": {"allocated": 2}}

    def most(own: Sequence[int]) -> list[int]:
        theirs = [
            others.get(phase, {}).get(kind, 0)
            for phase in ("train", "validate", "checkpoint")
            for kind in ("allocated", "reserved")
        ]
        return [max(pair) for pair in zip(own, theirs, strict=True)]

    with Journal(tmp_path / "e.jsonl", lambda: {"allocated": 3, "reserved": 10}) as journal:
        with journal.phase("train"):
            journal.take_most(("train", "validate", "checkpoint"), most)
        assert journal.peak_memory == {
            "train": {"allocated": 5, "reserved": 10},
            "validate": {"allocated": 2},
        }
