import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.spec.planned import PlannedRun
from results.runfolder.folder import AlreadyRunningError, RunFolder

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)

ANOTHER = """
import sys, time
from pathlib import Path
from results.runfolder.folder import RunFolder
folder = RunFolder(Path(sys.argv[1]))
"""
OVERWRITE = (
    ANOTHER
    + """
print("ready", flush=True)
for number in range(10**9):
    folder.write("result.json", {"number": number, "filler": "x" * 100_000})
"""
)
HOLD = (
    ANOTHER
    + """
with folder.locked():
    print("ready", flush=True)
    time.sleep(60)
"""
)
FULL = (
    ANOTHER
    + """
import resource
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
folder.write("result.json", "x" * 10_000)
"""
)


@pytest.fixture
def start() -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    started: list[subprocess.Popen[str]] = []

    def run(script: str, folder: RunFolder) -> "subprocess.Popen[str]":
        command = [sys.executable, "-c", script, os.fspath(folder.path)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    yield run
    for process in started:
        with process:
            process.kill()


def test_a_job_is_read_as_it_was_written(tmp_path: Path, job: Callable[..., PlannedRun]) -> None:
    folder = RunFolder(tmp_path / "deep" / "run")
    folder.create(job(limit=50))
    assert folder.job() == job(limit=50)
    assert folder.job().spec.run_id == job(limit=50).spec.run_id
    assert folder.job().located.place == "somewhere"


def test_the_spec_file_says_nothing_of_where_things_lie(
    tmp_path: Path, job: Callable[..., PlannedRun]
) -> None:
    folder = RunFolder(tmp_path)
    folder.create(job(backbone_place="here or there"))
    assert folder.read("spec.json") == job().spec.model_dump(mode="json")
    kept = {"backbone_place": "here or there", "data_folder": None}
    kept |= {"train_file": None, "notes": []}
    assert folder.read("job.json") == kept


@given(st.lists(JSON))
def test_lines_come_back_whatever_is_in_them(
    tmp_path_factory: pytest.TempPathFactory, values: list[Any]
) -> None:
    folder = RunFolder(tmp_path_factory.getbasetemp())
    folder.write_lines("generations/gsm8k.jsonl", values)
    assert folder.read_lines("generations/gsm8k.jsonl") == values


def test_a_file_is_whole_at_every_moment(
    tmp_path: Path, start: Callable[..., "subprocess.Popen[str]"]
) -> None:
    folder = RunFolder(tmp_path)
    writer = start(OVERWRITE, folder)
    numbers = set[int]()
    while len(numbers) < 20:
        if folder.has("result.json"):
            numbers.add(folder.read("result.json")["number"])
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    assert len(folder.read("result.json")["filler"]) == 100_000


def test_a_file_that_could_not_be_written_leaves_the_old_one(
    tmp_path: Path, python: Callable[..., "subprocess.CompletedProcess[str]"]
) -> None:
    folder = RunFolder(tmp_path)
    folder.write("result.json", "old")
    assert "OSError" in python(FULL, tmp_path).stderr
    assert folder.read("result.json") == "old"


def test_a_partial_file_is_not_there(tmp_path: Path) -> None:
    (tmp_path / ".result.json.partial").write_text('{"number": ')
    assert not RunFolder(tmp_path).has("result.json")


def test_a_lock_keeps_another_process_out_until_that_is_killed(
    tmp_path: Path, start: Callable[..., "subprocess.Popen[str]"]
) -> None:
    folder = RunFolder(tmp_path)
    holder = start(HOLD, folder)
    with pytest.raises(AlreadyRunningError, match=str(tmp_path)), folder.locked():
        pytest.fail("two processes had the lock")
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with folder.locked():
        pass


def test_a_lock_is_free_again_after_an_exception(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    with pytest.raises(RuntimeError, match="mine"), folder.locked():
        raise RuntimeError("mine")
    with folder.locked():
        pass


def test_a_failure_says_why_and_when_the_attempt_began(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.note_failure("no memory", seconds=100.0)
    failure = folder.read("failure.json")
    folder.drop("failure.json")
    folder.drop("failure.json")
    assert not folder.has("failure.json")
    assert failure["reason"] == "no memory"
    assert failure["seconds"] == {"wall": 100.0}
    assert 99 < time.time() - failure["started"] < 110


@pytest.mark.parametrize(("lines", "last"), [(2, "b\nc"), (20, "a\nb\nc")])
def test_the_end_of_the_log_is_its_last_lines(tmp_path: Path, lines: int, last: str) -> None:
    folder = RunFolder(tmp_path)
    assert folder.end_of_log() == ""
    folder.log.write_text("a\nb\nc\n")
    assert folder.end_of_log(lines) == last


def test_a_log_of_odd_bytes_can_be_read(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.log.write_bytes(b"\xff\xfe\nlast\n")
    assert folder.end_of_log(1) == "last"


def test_files_are_json_that_other_programs_read(tmp_path: Path) -> None:
    RunFolder(tmp_path).write("x.json", {"a": [1, None, "ü"]})
    assert json.loads((tmp_path / "x.json").read_bytes()) == {"a": [1, None, "ü"]}
