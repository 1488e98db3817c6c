"""How far an attempt is, by the files and the lock of its folder."""

import os
import platform
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from results.runfolder import attempts, locks, wishes
from results.runfolder.attempts import Attempt
from results.runfolder.folder import RunFolder
from results.runfolder.state import FRESH, State, state_of
from results.runfolder.values import Environment, Result

Create = Callable[..., RunFolder]

WORKER = """
import sys
from pathlib import Path
from results.runfolder.folder import RunFolder
with RunFolder(Path(sys.argv[1])).locked():
    print("at work", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path, create: Create) -> RunFolder:
    """Make a folder that was planned an hour ago."""
    made = create(tmp_path / "run")
    at(made, "run.json", time.time() - 3600)
    return made


def at(folder: RunFolder, name: str, when: float) -> None:
    """Change the time of a file, which is made if it is not there."""
    (folder.path / name).touch()
    os.utime(folder.path / name, (when, when))


def state(folder: RunFolder) -> State:
    return state_of(str(folder.path), locks.held(folder.path.parent))


def test_a_lock_is_listed_while_it_is_held(folder: RunFolder) -> None:
    with folder.locked():
        inode = (folder.path / "lock").stat().st_ino
        held = locks.held(folder.path)
        assert held is not None
        assert inode in held
    assert inode not in (locks.held(folder.path) or ())


def test_looking_for_locks_keeps_no_worker_out(folder: RunFolder) -> None:
    for _ in range(20):
        locks.held(folder.path.parent)
        state(folder)
        with folder.locked():
            assert state(folder).how == "running"


def test_where_no_folder_is_no_lock_is_known(tmp_path: Path) -> None:
    assert locks.held(tmp_path / "gone") is None


def test_a_run_waits_until_a_worker_has_its_lock(folder: RunFolder) -> None:
    assert state(folder).how == "waiting"
    with folder.locked():
        assert (state(folder).how, state(folder).by_lock) == ("running", True)


def test_a_worker_that_is_killed_has_ended_without_a_result(folder: RunFolder) -> None:
    command = [sys.executable, "-c", WORKER, os.fspath(folder.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as worker:
        assert worker.stdout
        worker.stdout.readline()
        folder.events.touch()
        assert state(folder).how == "running"
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        assert state(folder).how == "lost"


def test_a_lost_run_that_is_planned_again_waits(folder: RunFolder) -> None:
    at(folder, "events.jsonl", time.time() - 60)
    assert state(folder).how == "lost"
    at(folder, "run.json", time.time() - 30)
    assert state(folder).how == "waiting"


def test_an_ending_is_dated_by_its_last_event_since_scores_may_be_made_anew(
    folder: RunFolder, result: Callable[..., Result]
) -> None:
    at(folder, "events.jsonl", 1000.0)
    folder.write_result(result())
    assert state(folder) == State("finished", 1000.0)


def test_a_failure_is_dated_by_its_own_file(folder: RunFolder) -> None:
    at(folder, "events.jsonl", 1000.0)
    folder.note_failure("no memory")
    at(folder, "failure.json", 2000.0)
    assert state(folder) == State("failed", 2000.0)


def test_a_folder_without_a_run_is_empty(tmp_path: Path) -> None:
    assert state_of(str(tmp_path), frozenset()).how == "empty"
    assert state_of(str(tmp_path / "gone"), frozenset()).how == "empty"


def write_host(folder: RunFolder, host: str) -> None:
    folder.write_environment(
        Environment(packages={}, python="", torch="", device="", machine={"host": host}, harness={})
    )


@pytest.mark.parametrize(
    ("age", "host", "how"),
    [
        (5.0, "another machine", "running"),
        (FRESH + 60, "another machine", "lost"),
        (5.0, platform.node(), "lost"),
    ],
)
def test_a_run_of_another_machine_runs_while_its_events_are_fresh(
    folder: RunFolder, age: float, host: str, how: str
) -> None:
    write_host(folder, host)
    at(folder, "events.jsonl", time.time() - age)
    found = state(folder)
    assert (found.how, found.by_lock) == (how, False)


def test_where_locks_are_not_listed_events_tell_who_runs(folder: RunFolder) -> None:
    at(folder, "events.jsonl", time.time() - 5)
    assert state_of(str(folder.path), None).how == "running"


def begin(folder: RunFolder, host: str, **facts: object) -> Attempt:
    begun = attempts.begin(folder)
    assert begun
    begun = begun.model_copy(update={"host": host, **facts})
    attempts.keep(folder, begun)
    return begun


def test_a_run_of_another_machine_runs_while_it_beats_whatever_it_tells(folder: RunFolder) -> None:
    at(folder, "events.jsonl", time.time() - FRESH - 60)
    begin(folder, "another machine")
    assert (state(folder).how, state(folder).by_lock) == ("running", False)
    at(folder, "attempts/0001.json", time.time() - FRESH - 60)
    assert state(folder).how == "lost"


def test_an_attempt_of_another_machine_that_was_given_up_is_lost(folder: RunFolder) -> None:
    at(folder, "events.jsonl", time.time() - 5)
    attempts.lose(folder, begin(folder, "another machine"))
    assert state(folder).how == "lost"


def test_an_attempt_here_runs_by_its_lock_and_by_no_beat(folder: RunFolder) -> None:
    at(folder, "events.jsonl", time.time() - 5)
    begin(folder, platform.node())
    assert state(folder).how == "lost"


def test_a_run_that_was_asked_to_stop_is_interrupted_until_it_is_planned_again(
    folder: RunFolder,
) -> None:
    at(folder, "events.jsonl", time.time() - 60)
    begin(folder, platform.node(), status="interrupted")
    assert state(folder).how == "interrupted"
    at(folder, "run.json", time.time() - 30)
    assert state(folder).how == "waiting"


def test_what_the_user_wants_of_a_run_is_its_state_once_it_has_stopped(
    folder: RunFolder, result: Callable[..., Result]
) -> None:
    wishes.cancel(folder)
    with folder.locked():
        assert state(folder).how == "running"
    assert state(folder).how == "cancelled"
    wishes.go_on(folder)
    assert state(folder).how == "waiting"
    folder.write_result(result())
    wishes.forget(folder, "the wrong data")
    assert state(folder).how == "forgotten"


def test_a_damaged_attempt_ends_no_look(folder: RunFolder) -> None:
    at(folder, "events.jsonl", time.time() - 60)
    (folder.path / "attempts").mkdir()
    (folder.path / "attempts" / "0001.json").write_text("{")
    assert state(folder).how == "lost"
