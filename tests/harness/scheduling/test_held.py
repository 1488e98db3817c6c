"""What one process sees of a run that another has. Its clock is the test's."""

from pathlib import Path

import pytest

from harness.scheduling.executors.conformance.stand_in import RESULT
from harness.scheduling.held import Held
from results.runfolder import attempts
from results.runfolder.attempts import Attempt
from results.runfolder.claims import STALE
from results.runfolder.folder import RunFolder


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def held(folder: RunFolder, clock: Clock) -> Held:
    return Held(folder, clock)


def away(folder: RunFolder, **facts: object) -> Attempt:
    """Begin an attempt of another machine."""
    begun = attempts.begin(folder)
    assert begun
    attempt = begun.model_copy(update={"host": "another", **facts})
    attempts.keep(folder, attempt)
    return attempt


def test_a_run_whose_lock_is_held_is_at_work(folder: RunFolder, held: Held) -> None:
    assert held.look() == "free"
    with folder.locked():
        assert held.look() == "at work"
    assert held.look() == "free"


def test_where_no_folder_is_the_run_is_free(tmp_path: Path) -> None:
    assert Held(RunFolder(tmp_path / "none")).look() == "free"


def test_a_run_of_another_machine_is_at_work_while_its_beat_changes(
    folder: RunFolder, held: Held, clock: Clock
) -> None:
    attempt = away(folder)
    for beat in range(5):
        attempts.keep(folder, attempt.model_copy(update={"beat": beat}))
        assert held.look() == "at work"
        clock.now += STALE - 1
    clock.now += 2
    assert held.look() == "free"
    assert attempts.is_lost(folder, attempt)


def test_whoever_looks_first_waits_the_whole_time_whatever_other_clocks_say(
    folder: RunFolder, clock: Clock
) -> None:
    # By its own clock it began in 1970, or in a hundred years.
    for started in (0.0, 5e9):
        attempt = away(folder, started=started)
        held = Held(folder, clock)
        assert held.look() == "at work"
        clock.now += STALE - 1
        assert held.look() == "at work"
        clock.now += 1
        assert held.look() == "free"
        assert attempts.is_lost(folder, attempt)


def test_an_attempt_that_follows_is_given_the_whole_time_too(
    folder: RunFolder, held: Held, clock: Clock
) -> None:
    first = away(folder)
    held.look()
    clock.now += STALE - 1
    attempts.lose(folder, first)  # by yet another process, which goes on with it
    away(folder)
    assert held.look() == "at work"
    clock.now += STALE - 1
    assert held.look() == "at work"


def test_what_ended_is_ended_and_a_late_report_is_no_end(folder: RunFolder, held: Held) -> None:
    first = away(folder)
    attempts.lose(folder, first)
    second = away(folder)
    folder.write_result(RESULT.model_copy(update={"attempt": first.token}))
    assert held.look() == "at work"
    assert not folder.finished
    folder.write_result(RESULT.model_copy(update={"attempt": second.token}))
    assert held.look() == "ended"
