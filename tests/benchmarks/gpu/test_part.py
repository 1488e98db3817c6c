import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from benchmarks.gpu.kept import EXPECTED, Kept
from benchmarks.gpu.part import Part, Row, go_on

CARD = {"card": "H200", "torch": "2.13.0", "commit": "abc"}
Measure = Callable[[str, float], list[Row]]


class Clock:
    """Time that passes only where a measurement takes some."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def fine(item: str) -> list[Row]:
    return [{"item": item, "outcome": EXPECTED}]


def part(measure: Measure, items: Sequence[str] = ("a", "b", "c")) -> Part:
    return Part("A part", "About it.", {"item": ""}, lambda: items, measure)


def taking(clock: Clock, seconds: float, seen: list[str]) -> Measure:
    """Measure in so many seconds, or be cut off."""

    def measure(item: str, left: float) -> list[Row]:
        seen.append(item)
        clock.now += min(seconds, left)
        if seconds > left:
            raise subprocess.TimeoutExpired("program", left)
        return fine(item)

    return measure


def test_a_part_stops_when_its_time_is_over_and_goes_on_with_the_next_call(tmp_path: Path) -> None:
    seen: list[str] = []
    for _ in range(2):
        clock = Clock()
        go_on(part(taking(clock, 40, seen)), Kept(tmp_path / "part.json", CARD), 80, clock)
    assert seen == ["a", "b", "c"]
    kept = Kept(tmp_path / "part.json")
    assert kept.left() == []
    assert [row["item"] for row in kept.rows] == ["a", "b", "c"]


def test_an_item_that_was_cut_off_is_measured_first_the_next_time(tmp_path: Path) -> None:
    seen: list[str] = []
    for _ in range(2):
        clock = Clock()
        go_on(part(taking(clock, 60, seen)), Kept(tmp_path / "part.json", CARD), 100, clock)
    assert seen == ["a", "b", "b", "c"]


def test_an_item_that_takes_longer_than_all_the_time_holds_up_no_other(tmp_path: Path) -> None:
    clock = Clock()
    slow, quick = taking(clock, 900, []), taking(clock, 5, [])

    def measure(item: str, left: float) -> list[Row]:
        return slow(item, left) if item == "a" else quick(item, left)

    for _ in range(2):
        go_on(part(measure), Kept(tmp_path / "part.json", CARD), 600, clock)
    kept = Kept(tmp_path / "part.json")
    assert kept.missing == []
    assert kept.faults == [{"item": "a", "outcome": "not done in 600 s"}]


def test_what_did_not_come_as_expected_is_measured_again_after_what_is_missing(
    tmp_path: Path,
) -> None:
    kept = Kept(tmp_path / "part.json", CARD)
    kept.expect(["a", "b", "c"])
    kept.add("a", [{"item": "a", "outcome": "failed"}])
    kept.add("b", [{"item": "b", "outcome": f"{EXPECTED}: does not fit"}])
    assert Kept(tmp_path / "part.json").left() == ["c", "a"]


@pytest.mark.parametrize("what", ["card", "torch", "commit"])
def test_figures_of_another_card_version_or_commit_are_given_up(tmp_path: Path, what: str) -> None:
    kept = Kept(tmp_path / "part.json", CARD)
    kept.expect(["a"])
    kept.add("a", fine("a"))
    assert Kept(tmp_path / "part.json", CARD).rows == fine("a")
    assert Kept(tmp_path / "part.json", {**CARD, what: "other"}).rows == []
