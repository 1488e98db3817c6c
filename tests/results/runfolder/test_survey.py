"""Run folders that are looked at again and again."""

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from results.runfolder import attempts, wishes
from results.runfolder.claims import STALE
from results.runfolder.folder import RunFolder
from results.runfolder.survey import KEPT, Attempt, Survey
from results.runfolder.values import Result

Create = Callable[..., RunFolder]


def names(attempts: tuple[Attempt, ...]) -> list[str]:
    return [one.folder.path.name for one in attempts]


def write(folder: RunFolder, *events: dict[str, Any]) -> None:
    with folder.events.open("a") as file:
        file.writelines(json.dumps({"time": time.time(), **event}) + "\n" for event in events)


def test_a_run_waits_then_runs_then_ends(
    root: Path, create: Create, result: Callable[..., Result]
) -> None:
    survey, folder = Survey(root), create(root / "a")
    assert survey.look().waiting == 1
    with folder.locked():
        write(folder, {"phase": "train"}, {"step": 1, "of": 9, "loss": 0.5})
        seen = survey.look()
        assert (names(seen.running), seen.waiting) == (["a"], 0)
        assert seen.running[0].progress
        assert (seen.running[0].progress.phase, seen.running[0].progress.done) == ("train", 1)
        write(folder, {"step": 2, "of": 9, "loss": 0.25})
        survey.look()
        assert list(seen.running[0].progress.losses) == [0.5, 0.25]
        folder.write_result(result())
    seen = survey.look()
    assert (names(seen.running), names(seen.ended)) == ([], ["a"])
    assert seen.ended[0].state.how == "finished"


def test_a_line_that_is_half_written_is_no_event_yet(root: Path, create: Create) -> None:
    survey, folder = Survey(root), create(root / "a")
    line = json.dumps({"time": time.time(), "phase": "generate"}) + "\n"
    with folder.locked():
        write(folder, {"phase": "train"})
        for half, phase in ((line[:20], "train"), (line[20:], "generate")):
            with folder.events.open("a") as file:
                file.write(half)
            (running,) = survey.look().running
            assert running.progress
            assert running.progress.phase == phase


def test_what_came_to_its_end_is_not_opened_again(
    root: Path, create: Create, result: Callable[..., Result]
) -> None:
    survey, folder = Survey(root), create(root / "a")
    folder.write_result(result())
    assert names(survey.look().ended) == ["a"]
    (folder.path / "result.json").unlink()  # nobody does so; whoever looked would see it
    assert names(survey.look().ended) == ["a"]


def test_a_failed_run_that_is_begun_again_runs_with_the_events_of_this_attempt(
    root: Path, create: Create
) -> None:
    survey, folder = Survey(root), create(root / "a")
    write(folder, {"phase": "train", "time": 1000.0})
    folder.note_failure("no memory")
    assert [one.state.how for one in survey.look().ended] == ["failed"]
    create(root / "a")
    with folder.locked():
        seen = survey.look()
        assert (names(seen.running), seen.ended) == (["a"], ())
        assert seen.running[0].progress
        assert seen.running[0].progress.phase == "start"


def test_folders_come_and_go(root: Path, create: Create) -> None:
    survey = Survey(root)
    create(root / "a").note_failure("no memory")
    assert names(survey.look().ended) == ["a"]
    create(root / "b").note_failure("no memory")
    (root / ".rerun-a").mkdir()
    (root / "notes.txt").touch()
    assert sorted(names(survey.look().ended)) == ["a", "b"]
    shutil.rmtree(root / "a")
    assert names(survey.look().ended) == ["b"]


def test_a_folder_made_anew_while_nobody_looked_is_another_one(
    root: Path, create: Create, result: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    survey, folder = Survey(root), create(root / "a")
    folder.write_result(result())
    assert survey.look().waiting == 0
    shutil.rmtree(folder.path)
    create(root / "a")
    now = time.time()
    monkeypatch.setattr("time.time", lambda: now + 3600)
    assert survey.look().waiting == 1


def test_the_root_may_be_made_later_and_may_vanish(tmp_path: Path, create: Create) -> None:
    survey = Survey(tmp_path / "runs")
    assert not survey.look().there
    create(tmp_path / "runs" / "a")
    assert (survey.look().there, survey.look().waiting) == (True, 1)
    shutil.rmtree(tmp_path / "runs")
    assert (survey.look().there, survey.look().waiting) == (False, 0)


def test_the_newest_endings_are_kept_and_the_newest_comes_first(
    root: Path, create: Create, result: Callable[..., Result]
) -> None:
    for number in range(KEPT + 5):
        folder = create(root / f"{number:02}")
        folder.events.touch()
        os.utime(folder.events, (1000 + number, 1000 + number))
        folder.write_result(result())
    survey = Survey(root)
    newest = [f"{number:02}" for number in range(KEPT + 4, 4, -1)]
    assert names(survey.look().ended) == names(survey.look().ended) == newest


def test_runs_at_work_stand_in_the_order_in_which_they_began(root: Path, create: Create) -> None:
    first, second = create(root / "b"), create(root / "a")
    with first.locked(), second.locked():
        write(first, {"phase": "load"})
        write(second, {"phase": "load", "time": time.time() + 0.5})
        assert names(Survey(root).look().running) == ["b", "a"]


def test_a_run_of_another_machine_is_lost_when_its_beat_was_seen_unchanged_for_long(
    root: Path, create: Create, monkeypatch: pytest.MonkeyPatch
) -> None:
    survey, folder = Survey(root), create(root / "a")
    begun = attempts.begin(folder)
    assert begun
    begun = begun.model_copy(update={"host": "another machine"})
    now = time.monotonic()

    def seen(later: float) -> list[str]:
        monkeypatch.setattr("time.monotonic", lambda: now + later)
        return names(survey.look().running)

    attempts.keep(folder, begun)
    assert seen(0) == seen(STALE - 1) == ["a"]
    attempts.keep(folder, begun.model_copy(update={"beat": 1}))
    assert seen(STALE) == seen(2 * STALE - 1) == ["a"]
    assert seen(2 * STALE) == []
    assert names(survey.look().amiss) == ["a"]


def test_every_run_is_counted_once_by_how_far_it_is(
    root: Path, create: Create, result: Callable[..., Result]
) -> None:
    survey = Survey(root)
    for name in ("a", "b"):
        create(root / name).write_result(result())
    create(root / "c").note_failure("no memory")
    create(root / "d")
    wishes.cancel(create(root / "e"))
    wishes.forget(create(root / "f"), "the wrong data")
    (root / "empty").mkdir()
    counted = {"finished": 2, "failed": 1, "waiting": 1, "cancelled": 1, "forgotten": 1}
    assert survey.look().counts == survey.look().counts == counted
    shutil.rmtree(root / "a")
    assert survey.look().counts == {**counted, "finished": 1}


def test_what_went_amiss_is_not_pushed_out_by_what_finished(
    root: Path, create: Create, result: Callable[..., Result]
) -> None:
    create(root / "failed").note_failure("no memory")
    os.utime(root / "failed" / "failure.json", (1000, 1000))
    for number in range(KEPT + 5):
        create(root / f"{number:02}").write_result(result())
    seen = Survey(root).look()
    assert "failed" not in names(seen.ended)
    assert names(seen.amiss) == ["failed"]
