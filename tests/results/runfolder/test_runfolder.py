"""A run folder: whole files, damaged files, locks."""

import gzip
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

from results.runfolder import sums
from results.runfolder.folder import AlreadyRunningError, RunFolder, RunFolderError
from results.runfolder.values import (
    FORMAT,
    Environment,
    Generation,
    Head,
    OptionLikelihoods,
    Result,
    TrainRecord,
    Verdict,
)

ANOTHER = """
import sys, time
from pathlib import Path
from results.runfolder import sums
from results.runfolder.folder import RunFolder
folder = RunFolder(Path(sys.argv[1]))
"""
OVERWRITE = (
    ANOTHER
    + """
print("ready", flush=True)
for number in range(10**9):
    folder.write_method_record({"number": number, "filler": "x" * 100_000})
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
folder.write_method_record({"filler": "x" * 10_000})
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


def test_the_first_files_are_read_as_they_were_written(
    tmp_path: Path, head: Callable[..., Head]
) -> None:
    folder = RunFolder(tmp_path / "deep" / "run")
    spec, places = {"train": {"lr": 1e-300}}, {"backbone_place": "here or there", "notes": []}
    folder.create(head(seed=7), spec, places)
    assert folder.head() == head(seed=7)
    assert (folder.spec(), folder.places()) == (spec, places)
    assert "here" not in (folder.path / "spec.json").read_text()
    assert folder.format == FORMAT


def test_what_is_not_written_yet_is_none_or_empty(create: Callable[..., RunFolder]) -> None:
    folder = create()
    assert {folder.finished, folder.failed, folder.has_generations("gsm8k")} == {False}
    assert not folder.has_likelihoods("gsm8k")
    assert {folder.result(), folder.failure(), folder.environment()} == {None}
    assert folder.train_record() is None
    assert folder.method_record() == {}


def test_a_file_is_whole_at_every_moment(
    tmp_path: Path, start: Callable[..., "subprocess.Popen[str]"]
) -> None:
    folder = RunFolder(tmp_path)
    writer = start(OVERWRITE, folder)
    numbers = set[int]()
    while len(numbers) < 20:
        numbers |= {folder.method_record().get("number", 0)}
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    assert len(folder.method_record()["filler"]) == 100_000


def test_a_file_that_could_not_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.write_method_record({"layers": [1]})
    command = [sys.executable, "-c", FULL, os.fspath(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "OSError" in done.stderr
    assert folder.method_record() == {"layers": [1]}


def test_a_partial_file_is_not_there(create: Callable[..., RunFolder]) -> None:
    folder = create()
    (folder.path / ".result.json.7.partial").write_text('{"started": ')
    assert not folder.finished


@pytest.fixture
def whole(create: Callable[..., RunFolder], result: Callable[..., Result]) -> RunFolder:
    """Write every file of a run folder; a run has either a result or a failure, this has both."""
    folder = create()
    stack = {"packages": {"torch": "2.13"}, "python": "3.11.7", "torch": "2.13", "device": "CPU"}
    folder.write_environment(Environment(**stack, machine={}, harness={}))
    record = {"rows": 9, "cut": 0, "dropped": 0, "steps": 3, "tokens": 99, "best_step": 3}
    folder.write_train_record(TrainRecord(**record, best_validation_loss=1, tokens_per_second=5))
    folder.write_method_record({"layers": [1]})
    folder.write_generations("boolq", 2 * [Generation(id=0, ended=True, long=False, text="x")])
    folder.write_likelihoods("boolq", 2 * [OptionLikelihoods(id=0, options={"true": -1.0})])
    folder.write_verdicts("boolq", 2 * [Verdict(id=0, extracted={"a": "x"}, correct={"a": True})])
    folder.write_result(result())
    folder.note_failure("no memory")
    return folder


READ: dict[str, Callable[[RunFolder], Any]] = {
    "run.json": RunFolder.head,
    "spec.json": RunFolder.spec,
    "sha256.json": lambda folder: sums.read(folder.path),
    "places.json": RunFolder.places,
    "environment.json": RunFolder.environment,
    "training.json": RunFolder.train_record,
    "method.json": RunFolder.method_record,
    "generations/boolq.jsonl.gz": lambda folder: folder.generations("boolq"),
    "likelihoods/boolq.jsonl": lambda folder: folder.option_likelihoods("boolq"),
    "verdicts/boolq.jsonl": lambda folder: folder.verdicts("boolq"),
    "result.json": RunFolder.result,
    "failure.json": RunFolder.failure,
}
"""What reads each file."""


def test_every_file_that_is_written_can_be_read(whole: RunFolder) -> None:
    written = (path for path in whole.path.rglob("*") if path.is_file())
    assert {str(path.relative_to(whole.path)) for path in written} == set(READ)
    for read in READ.values():
        assert read(whole)


DAMAGED = {
    "not JSON": b"layers: 1",
    "not text": b'{"layers": "\xff\xfe"}',
    "not an object": b"[1, 2]",
    "of unknown keys": b'{"format": 2, "unknown": 1}',
}
OF_ANY_KEYS = {"spec.json", "places.json", "method.json", "sha256.json"}
CASES = [
    (name, how)
    for name in READ
    for how in DAMAGED
    if how != "of unknown keys" or name not in OF_ANY_KEYS
]


def refused(folder: RunFolder, name: str) -> str:
    with pytest.raises(RunFolderError) as found:
        READ[name](folder)
    return str(found.value)


@pytest.mark.parametrize(("name", "how"), CASES)
def test_a_damaged_file_is_an_error_that_names_it(name: str, how: str, whole: RunFolder) -> None:
    path = whole.path / name
    path.write_bytes(gzip.compress(DAMAGED[how]) if path.suffix == ".gz" else DAMAGED[how])
    assert f"{path} is damaged: " in refused(whole, name)


@pytest.mark.parametrize("name", READ)
def test_a_file_that_was_cut_short_is_an_error_that_names_it(name: str, whole: RunFolder) -> None:
    path = whole.path / name
    path.write_bytes(path.read_bytes()[:-12])
    assert f"{path} is damaged: " in refused(whole, name)


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("run.json", "seed", "many"),
        ("run.json", "format", "two"),
        ("result.json", "scores", [{"benchmark": "gsm8k"}]),
        ("training.json", "steps", 1.5),
        ("failure.json", "reason", None),
    ],
)
def test_a_value_of_a_wrong_type_is_an_error_that_names_file_and_key(
    name: str, key: str, value: object, whole: RunFolder
) -> None:
    path = whole.path / name
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    said = refused(whole, name)
    assert str(path) in said
    assert key in said or str(value) in said


def test_a_broken_stream_of_compressed_bytes_is_an_error_that_names_the_file(
    whole: RunFolder,
) -> None:
    path = whole.path / "generations" / "boolq.jsonl.gz"
    content = bytearray(path.read_bytes())
    content[10:14] = b"\xff\xff\xff\xff"
    path.write_bytes(content)
    assert f"{path} is damaged: " in refused(whole, "generations/boolq.jsonl.gz")


@pytest.mark.parametrize("name", ["spec.json", "places.json", "generations/boolq.jsonl.gz"])
def test_a_missing_file_is_an_error_that_names_it(name: str, whole: RunFolder) -> None:
    (whole.path / name).unlink()
    assert refused(whole, name) == f"{whole.path / name} is missing."


def test_a_folder_of_a_newer_format_is_refused_with_advice(
    create: Callable[..., RunFolder], head: Callable[..., Head]
) -> None:
    folder = create(format=FORMAT + 1)
    before = (folder.path / "run.json").read_bytes()
    for work in (RunFolder.head, lambda folder: folder.create(head(), {}, {})):
        with pytest.raises(RunFolderError) as found:
            work(folder)
        assert str(folder.path) in str(found.value)
        assert f"format {FORMAT + 1}" in str(found.value)
        assert "Upgrade the harness." in str(found.value)
    assert (folder.path / "run.json").read_bytes() == before


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
    failure = folder.failure()
    assert failure is not None
    assert (failure.reason, failure.seconds) == ("no memory", {"wall": 100.0})
    assert 99 < time.time() - failure.started < 110


def test_a_failure_is_forgotten_by_hand_and_by_another_attempt(
    create: Callable[..., RunFolder],
) -> None:
    folder = create()
    folder.drop_failure()
    folder.note_failure("no memory")
    assert folder.failed
    create(folder.path)
    assert not folder.failed
    folder.note_failure("no memory")
    folder.drop_failure()
    assert folder.failure() is None


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
