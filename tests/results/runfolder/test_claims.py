"""Who has a run: one process at a time, on one machine by the lock, across machines by the beat."""

import errno
import os
import platform
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from results.runfolder import attempts, claims, wishes
from results.runfolder.attempts import Attempt
from results.runfolder.claims import Claim, LostError, claimed
from results.runfolder.folder import AlreadyRunningError, RunFolder
from results.runfolder.values import Result

RESULT = Result(
    started=0.0,
    seconds={},
    environment_id="",
    resumed=False,
    trainable_parameters=0,
    total_parameters=0,
    adapter_bytes=0,
    peak_memory_bytes=0,
    scores=(),
    flags=(),
)

Away = Callable[..., Attempt]


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path)


@pytest.fixture
def away(folder: RunFolder) -> Away:
    """Start an attempt of another machine."""

    def start(**facts: object) -> Attempt:
        attempt = attempts.begin(folder)
        assert attempt
        attempt = attempt.model_copy(update={"host": "another", **facts})
        attempts.keep(folder, attempt)
        return attempt

    return start


def leave() -> None:
    pytest.fail("a process that has its run left")


def work(folder: RunFolder, do: Callable[[Claim], None] = lambda _: None) -> None:
    with claimed(folder, leave) as claim:
        assert claim
        do(claim)


def test_each_start_is_an_attempt_that_says_how_it_ended(folder: RunFolder) -> None:
    work(folder, lambda claim: claim.fail("no room", "memory"))
    work(folder)  # as where the process is killed
    work(folder, lambda claim: claim.end("finished"))
    found = attempts.attempts(folder)
    assert [one.number for one in found] == [1, 2, 3]
    assert [(one.status, one.kind, one.reason) for one in found] == [
        ("failed", "memory", "no room"),
        (None, None, ""),
        ("finished", None, ""),
    ]
    assert {(one.host, one.pid) for one in found} == {(platform.node(), os.getpid())}
    assert len({one.token for one in found}) == 3
    assert attempts.last(folder) == found[-1]


def test_a_failure_says_its_sort_and_attempt_until_the_next_attempt(folder: RunFolder) -> None:
    work(folder, lambda claim: claim.fail("no room", "memory"))
    failure, attempt = folder.failure(), attempts.last(folder)
    assert failure
    assert attempt
    assert (failure.kind, failure.reason, failure.attempt) == ("memory", "no room", attempt.token)
    work(folder)
    assert not folder.failed


def test_a_folder_of_before_has_no_attempts_and_its_failure_is_an_exception(
    folder: RunFolder,
) -> None:
    (folder.path / "failure.json").write_text(
        '{"started": 1.0, "seconds": {"wall": 2.0}, "reason": "ValueError: no such layer"}'
    )
    failure = folder.failure()
    assert failure
    assert (failure.kind, failure.attempt) == ("exception", "")
    assert (attempts.attempts(folder), attempts.last(folder)) == ([], None)


def test_of_many_that_start_the_next_attempt_one_does(folder: RunFolder) -> None:
    with ThreadPoolExecutor(8) as pool:
        begun = list(pool.map(lambda _: attempts.begin(folder), range(8)))
    numbers = sorted(one.number for one in begun if one)
    assert numbers == list(range(1, len(numbers) + 1))
    assert [one.number for one in attempts.attempts(folder)] == numbers
    assert not list((folder.path / "attempts").glob(".*"))


def test_a_run_that_has_ended_is_not_started_again(folder: RunFolder) -> None:
    work(folder, lambda claim: folder.write_result(with_token(claim.token)))
    with claimed(folder, leave) as claim:
        assert claim is None
    assert len(attempts.attempts(folder)) == 1


def test_the_run_of_another_machine_is_left_alone_until_it_is_given_up(
    folder: RunFolder, away: Away
) -> None:
    attempt = away()
    with pytest.raises(AlreadyRunningError, match="another machine"), claimed(folder, leave):
        pytest.fail("two processes had the run")
    attempts.lose(folder, attempt)
    work(folder)
    assert [one.host for one in attempts.attempts(folder)] == ["another", platform.node()]


def test_an_attempt_of_another_machine_is_not_replaced_while_it_may_go_on(
    folder: RunFolder, away: Away
) -> None:
    attempt = away()
    assert attempts.begin(folder) is None
    assert attempts.last(folder) == attempt


@pytest.mark.parametrize("status", ["finished", "diverged", "failed", "interrupted"])
def test_what_ended_on_another_machine_can_be_started_here(
    folder: RunFolder, away: Away, status: str
) -> None:
    away(status=status)
    work(folder)


def test_a_process_that_was_given_up_writes_nothing_more(folder: RunFolder) -> None:
    with claimed(folder, leave) as claim:
        assert claim
        mine = attempts.last(folder)
        assert mine
        attempts.lose(folder, mine)
        for write in (claim.confirm, claim.beat, lambda: claim.end("finished")):
            with pytest.raises(LostError):
                write()
        with pytest.raises(LostError):
            claim.fail("too late", "exception")
    assert (attempts.last(folder), folder.failed) == (mine, False)


def test_a_process_whose_run_another_started_again_writes_nothing_more(
    folder: RunFolder, away: Away
) -> None:
    with claimed(folder, leave) as claim:
        assert claim
        away()
        with pytest.raises(LostError):
            claim.confirm()


def test_a_late_report_is_set_aside_and_the_run_goes_on(folder: RunFolder, away: Away) -> None:
    first = away()
    attempts.lose(folder, first)
    work(folder)
    folder.write_result(with_token(first.token))  # what a process wrote that was stopped meanwhile
    work(folder)
    assert not folder.finished
    (aside,) = folder.path.glob("result.json.late-*")
    assert aside.name.endswith(first.token)


def test_what_an_attempt_writes_that_begins_at_this_moment_is_no_late_report(
    folder: RunFolder,
) -> None:
    work(folder)

    class Read(RunFolder):
        """Its result is read just after another attempt has written it."""

        def result(self) -> Result | None:
            work(folder, lambda claim: folder.write_result(with_token(claim.token)))
            return super().result()

    assert attempts.set_aside(Read(folder.path)) == []
    assert folder.finished


def test_a_result_without_a_token_stands(folder: RunFolder) -> None:
    work(folder)
    folder.write_result(RESULT)
    assert attempts.set_aside(folder) == []
    assert folder.finished


def test_a_process_at_work_beats_and_says_what_it_took(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "BEAT", 0.01)
    with claimed(folder, leave) as claim:
        assert claim
        claim.measure = lambda: ({"train": 3.0}, 7)
        seen = threading.Event()
        while not (found := attempts.last(folder)) or found.beat < 3:
            seen.wait(0.01)
    assert found.seconds["train"] == 3.0
    assert found.seconds["wall"] > 0
    assert found.peak_memory_bytes == 7


def test_a_process_that_was_given_up_leaves_at_its_next_beat(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "BEAT", 0.01)
    left = threading.Event()
    with claimed(folder, left.set) as claim:
        assert claim
        mine = attempts.last(folder)
        assert mine
        attempts.lose(folder, mine)
        assert left.wait(20)


def test_a_file_system_that_is_away_for_a_while_ends_no_beat(
    folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "BEAT", 0.01)
    answers, exists = iter([OSError(errno.ESTALE, "Stale file handle")]), Path.exists

    def stale(path: Path) -> bool:
        if path.name == "cancel" and (error := next(answers, None)):
            raise error
        return exists(path)

    stopped = threading.Event()
    with claimed(folder, leave, stopped.set):
        monkeypatch.setattr(Path, "exists", stale)
        wishes.cancel(folder)
        assert stopped.wait(20)


def with_token(token: str) -> Result:
    return RESULT.model_copy(update={"attempt": token})
