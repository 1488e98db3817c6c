"""The worker as a process: how it serves folders and how it ends.

Its stages are those of the stand-in, which run the folder's act.py.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.scheduling.executors.conformance.stand_in import COMMAND
from harness.scheduling.executors.contract import outcome_of
from results.runfolder import attempts
from results.runfolder.folder import RunFolder

SECONDS = 20


@pytest.fixture
def serve() -> Callable[..., list[str]]:
    """Let one worker serve folders, one after the other, and return its answers."""

    def answers(*folders: RunFolder) -> list[str]:
        pipe = subprocess.PIPE
        with subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, text=True) as one:
            assert one.stdin is not None
            assert one.stdout is not None
            found = []
            for folder in folders:
                one.stdin.write(f"{folder.path}\n")
                one.stdin.flush()
                found.append(one.stdout.readline().strip())
            rest, _ = one.communicate(timeout=SECONDS)  # which closes its input
            assert (rest, one.returncode) == ("", 0)
        return found

    return answers


def test_every_folder_is_answered_by_its_status_and_a_failure_ends_no_other(
    serve: Callable[..., list[str]], act: Callable[..., RunFolder]
) -> None:
    scripts = {
        "a": "",
        "b": "raise ValueError('wrong')",
        "c": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
        "d": "import os; os._exit(3)",
        "e": "from results.runfolder.folder import AlreadyRunningError; raise AlreadyRunningError",
        "f": "",
    }
    folders = [act(script, name) for name, script in scripts.items()]
    assert serve(*folders) == ["0", "1", "-11", "3", "75", "0"]
    assert [folder.path.name for folder in folders if folder.failed] == ["b"]


def test_an_exception_leaves_its_reason_its_seconds_and_a_traceback_in_the_log(
    serve: Callable[..., list[str]], act: Callable[..., RunFolder]
) -> None:
    folder = act("import time; time.sleep(0.2); raise ValueError('no such layer')")
    serve(folder)
    failure = folder.failure()
    assert failure
    assert failure.reason == "ValueError: no such layer"
    assert 0.2 <= failure.seconds["wall"] < SECONDS
    assert "Traceback" in folder.end_of_log()
    assert folder.end_of_log().endswith("ValueError: no such layer")


def test_why_a_run_failed_is_told_without_secrets_of_the_environment(
    serve: Callable[..., list[str]],
    act: Callable[..., RunFolder],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HF_TOKEN", "not-to-be-told")
    folder = act("import os; raise ValueError('401 for ' + os.environ['HF_TOKEN'])")
    assert serve(folder) == ["1"]
    failure = folder.failure()
    assert failure
    assert failure.reason == "ValueError: 401 for $HF_TOKEN"
    assert folder.end_of_log().endswith("ValueError: 401 for $HF_TOKEN")
    assert not any(
        b"not-to-be-told" in one.read_bytes() for one in folder.path.rglob("*") if one.is_file()
    )


def test_what_fails_after_the_result_fails_no_run(
    serve: Callable[..., list[str]], act: Callable[..., RunFolder]
) -> None:
    folder = act("finish(); raise OSError('no room for the model card')")
    assert serve(folder) == ["0"]
    assert folder.finished
    assert not folder.failed
    assert [one.status for one in attempts.attempts(folder)] == ["finished"]
    assert folder.end_of_log().endswith("OSError: no room for the model card")


@pytest.mark.parametrize("log_too", [False, True])
def test_where_the_disk_is_full_a_run_has_failed_by_that_and_not_by_itself(
    log_too: bool, serve: Callable[..., list[str]], act: Callable[..., RunFolder]
) -> None:
    folder = act("with open('/dev/full', 'w') as file: file.write('weights')")
    if log_too:
        folder.log.symlink_to("/dev/full")
    (status,) = map(int, serve(folder))
    outcome_of(folder, status)
    failure = folder.failure()
    assert failure
    assert failure.kind == "disk"


def test_what_a_run_prints_goes_to_its_log_and_not_among_the_answers(
    serve: Callable[..., list[str]], act: Callable[..., RunFolder]
) -> None:
    script = "import subprocess, sys; print({0}); print({0}, file=sys.stderr)\n"
    script += "subprocess.run(['echo', '{0}'])"
    folders = [act(script.format(number), str(number)) for number in (41, 42)]
    assert serve(*folders) == ["0", "0"]
    assert [sorted(f.end_of_log().split()) for f in folders] == [["41"] * 3, ["42"] * 3]


def test_a_second_attempt_adds_to_the_log(
    serve: Callable[..., list[str]], act: Callable[..., RunFolder]
) -> None:
    folder = act("print('once')")
    serve(folder, folder)
    assert folder.end_of_log() == "once\nonce"


def test_what_one_run_changes_in_its_process_the_next_does_not_see(
    serve: Callable[..., list[str]], act: Callable[..., RunFolder]
) -> None:
    script = "import os, sys; assert 'MARK' not in os.environ; os.environ['MARK'] = '1'"
    assert serve(act(script, "a"), act(script, "b")) == ["0", "0"]


def test_what_a_run_started_ends_with_it(
    serve: Callable[..., list[str]], act: Callable[..., RunFolder], alive: Callable[[int], bool]
) -> None:
    script = """
import os, subprocess
nested = "import subprocess, time; subprocess.Popen(['sleep', '1000']); time.sleep(1000)"
left = subprocess.Popen(["python3", "-c", nested], start_new_session=True)
while not (inner := open(f"/proc/{left.pid}/task/{left.pid}/children").read().split()):
    pass
(folder.path / "left").write_text(f"{left.pid} {inner[0]}")
os._exit(3)
"""
    folder = act(script)
    assert serve(folder) == ["3"]
    left = [int(pid) for pid in (folder.path / "left").read_text().split()]
    assert not any(map(alive, left))


@pytest.fixture
def serving(act: Callable[..., RunFolder]) -> Iterator["subprocess.Popen[str]"]:
    """Start a worker."""
    pipe = subprocess.PIPE
    with subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, text=True) as one:
        yield one
        one.kill()


def given(serving: "subprocess.Popen[str]", folder: RunFolder) -> None:
    assert serving.stdin
    serving.stdin.write(f"{folder.path}\n")
    serving.stdin.flush()


def test_a_worker_that_is_asked_to_stop_ends_after_its_run(
    serving: "subprocess.Popen[str]", act: Callable[..., RunFolder], until: Callable[..., bool]
) -> None:
    folder = act("reach('at work'); work()")
    given(serving, folder)
    assert until(folder.path.with_name("at work").exists)
    serving.send_signal(signal.SIGTERM)
    assert serving.stdout
    assert serving.stdout.readline() == "143\n"
    assert serving.wait(SECONDS) == 0


def test_a_worker_with_nothing_at_work_just_ends(
    serving: "subprocess.Popen[str]", act: Callable[..., RunFolder]
) -> None:
    given(serving, act("finish()"))
    assert serving.stdout
    assert serving.stdout.readline() == "0\n"
    serving.send_signal(signal.SIGTERM)
    # By the signal, or in good order where it had not yet gone back to waiting.
    assert serving.wait(SECONDS) in {-signal.SIGTERM, 0}


@pytest.mark.parametrize(("script", "status"), [("", 0), ("raise ValueError", 1)])
def test_given_a_folder_a_worker_runs_that_one_and_ends(
    act: Callable[..., RunFolder], script: str, status: int
) -> None:
    command = [*COMMAND, os.fspath(act(script).path)]
    done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    assert done.returncode == status


PARENT = """
import os, subprocess, sys, time
worker = subprocess.Popen(
    sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
)
worker.stdin.write(sys.argv[1] + "\\n")
worker.stdin.flush()
print(worker.pid, flush=True)
time.sleep(1000)
"""


@pytest.fixture
def printed(tmp_path: Path) -> Path:
    """Name the file that gets what the started processes print as errors."""
    return tmp_path / "printed"


@pytest.fixture
def parent(printed: Path) -> Iterator[Callable[[RunFolder], tuple[int, int]]]:
    """Start a process that starts a worker; return the ids of both."""
    started: list[subprocess.Popen[str]] = []

    def begin(folder: RunFolder) -> tuple[int, int]:
        command = [sys.executable, "-c", PARENT, os.fspath(folder.path), *COMMAND]
        with printed.open("w") as errors:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        started.append(process)
        assert process.stdout is not None
        return process.pid, int(process.stdout.readline())

    yield begin
    for process in started:
        with process:
            process.kill()


@pytest.fixture
def gone(until: Callable[..., bool], alive: Callable[[int], bool]) -> Callable[..., bool]:
    """Wait until processes are gone; False if they stay."""

    def wait(*pids: int, seconds: float = SECONDS) -> bool:
        return until(lambda: not any(map(alive, pids)), seconds)

    return wait


@pytest.fixture
def at_work(
    parent: Callable[[RunFolder], tuple[int, int]],
    act: Callable[..., RunFolder],
    until: Callable[..., bool],
    children: Callable[[int], list[int]],
    orphans: list[int],
) -> tuple[int, int, int]:
    """Start a process whose worker has a run at work; return the ids of the three."""
    folder = act("reach('at work'); wait('never')")
    starter, worker = parent(folder)
    assert until(lambda: folder.path.with_name("at work").exists())
    (run,) = children(worker)
    orphans += [worker, run]
    return starter, worker, run


def test_a_worker_and_its_run_end_when_their_parent_is_killed(
    at_work: tuple[int, int, int], gone: Callable[..., bool], printed: Path
) -> None:
    starter, worker, run = at_work
    os.kill(starter, signal.SIGKILL)
    assert gone(worker, run)
    assert printed.read_text() == "", "a pipe without a reader is no error of the worker"


def test_a_run_ends_when_its_worker_is_killed(
    at_work: tuple[int, int, int], gone: Callable[..., bool]
) -> None:
    _, worker, run = at_work
    os.kill(worker, signal.SIGKILL)
    assert gone(run, seconds=1)


def test_a_worker_whose_parent_was_killed_while_it_started_runs_nothing(
    parent: Callable[[RunFolder], tuple[int, int]],
    act: Callable[..., RunFolder],
    gone: Callable[..., bool],
    orphans: list[int],
) -> None:
    folder = act("finish()")
    starter, worker = parent(folder)  # which now imports
    orphans.append(worker)
    os.kill(starter, signal.SIGKILL)
    assert gone(worker)
    assert not folder.finished
