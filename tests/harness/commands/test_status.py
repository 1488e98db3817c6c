"""What `harness status` says of runs that wait, run, end and fail."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from harness.commands.status import status, watch
from harness.errors import UserError
from harness.spec.planned import PlannedRun
from harness.spec.spec import MethodSpec
from results.runfolder import attempts, wishes
from results.runfolder.folder import RunFolder
from results.runfolder.values import Result
from results.store import Store

Create = Callable[..., RunFolder]


@pytest.fixture
def create(root: Path, planned: Callable[..., PlannedRun]) -> Create:
    def make(label: str) -> RunFolder:
        method = MethodSpec(name="lora", label=label, fields={"of": label}, source="cd" * 32)
        one = planned(method=method)
        folder = RunFolder(root / one.spec.run_id)
        folder.create(*one.kept)
        return folder

    return make


def write(folder: RunFolder, *events: dict[str, Any]) -> None:
    with folder.events.open("a") as file:
        file.writelines(json.dumps({"time": time.time(), **event}) + "\n" for event in events)


@pytest.fixture
def training(create: Create) -> Iterator[RunFolder]:
    """Train, with half of the steps taken, in an attempt that took 3 MiB."""
    folder = create("at-work")
    with folder.locked():
        begun = attempts.begin(folder)
        assert begun
        attempts.keep(folder, begun.model_copy(update={"peak_memory_bytes": 3 * 2**20}))
        write(folder, {"phase": "train"}, {"step": 25, "of": 50, "loss": 1.5, "tokens": 100})
        yield folder


def test_the_grid_is_one_line_and_so_is_a_run_at_work(
    training: RunFolder, create: Create, result: Result, root: Path
) -> None:
    create("done").write_result(result)
    create("waits")
    wishes.cancel(create("unwanted"))
    wishes.forget(create("wrong"), "the wrong data")
    create("broken").note_failure("ValueError: no such layer\nTraceback of many lines")
    shown = status("nowhere.db", root).text
    grid, _, header, _, run, _, failed = shown.split("\n")
    assert grid == (
        "1 of 5 runs done, 1 running, 1 waiting, 1 failed, 1 cancelled; 1 run is forgotten."
    )
    assert [cell.strip() for cell in header.strip("|").split("|")] == [
        *("id", "run", "phase", "done", "loss", "memory")
    ]
    assert [cell.strip() for cell in run.strip("|").split("|")] == [
        *(training.path.name[:8], "at-work on tiny, math, seed 2333"),
        *("train", "25 of 50", "1.500", "3.0 MiB"),
    ]
    assert failed.endswith(" failed, broken on tiny, math, seed 2333: ValueError: no such layer")


def test_a_run_of_another_machine_says_which(create: Create, root: Path) -> None:
    folder = create("far")
    begun = attempts.begin(folder)
    assert begun
    attempts.keep(folder, begun.model_copy(update={"host": "node7"}))
    write(folder, {"phase": "load"})
    report = status("nowhere.db", root)
    (run,) = report.value.running
    assert run.host == "node7"
    assert "on node7" in report.text


@pytest.mark.usefixtures("training")
def test_without_a_terminal_what_changes_is_said_once(
    create: Create, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moments = iter(["nothing new", "a failure", "nothing new"])

    def pause(seconds: float) -> None:
        time.sleep(seconds)  # no look is newer than a second
        moment = next(moments, None)
        if moment is None:
            raise KeyboardInterrupt
        if moment == "a failure":
            create("broken").note_failure("no memory")

    with pytest.raises(KeyboardInterrupt):
        watch("nowhere.db", root, pause)
    lines = [line.partition(" ")[2] for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "0 of 1 run done, 1 running."
    assert lines[1].endswith(" failed, broken on tiny, math, seed 2333: no memory")
    assert lines[2:] == ["0 of 2 runs done, 1 running, 1 failed."]


def test_a_folder_that_is_not_there_is_named_and_so_is_a_store_that_was_told_nothing(
    tmp_path: Path,
) -> None:
    elsewhere, store = tmp_path / "elsewhere", str(tmp_path / "harness.db")
    with pytest.raises(UserError, match=r"There is no folder .*elsewhere(?s:.)*--store.* no store"):
        status(store, elsewhere)
    Store(store)
    with pytest.raises(UserError, match=r"There is no folder .*elsewhere(?s:.)*told of no other"):
        status(store, elsewhere)


@pytest.mark.usefixtures("training")
def test_on_a_terminal_it_stays_until_ctrl_c_and_nothing_steers_it(
    create: Create, root: Path
) -> None:
    create("own[x=\x1b]0;mine\x07]").note_failure("\x1b[31mred")
    reading, writing = pty.openpty()
    # A job that a shell started in the background inherits a SIGINT that is ignored.
    python = ["env", "--default-signal=INT", sys.executable]
    command = [*python, "-m", "harness", "status", "--watch", "--runs", str(root)]
    with subprocess.Popen(command, stdin=writing, stdout=writing, stderr=writing) as process:
        os.close(writing)
        printed = b""
        while b"red" not in printed:
            printed += os.read(reading, 2**16)
        process.send_signal(signal.SIGINT)
        with suppress(OSError):  # the other end is closed
            while block := os.read(reading, 2**16):
                printed += block
        assert process.wait() == 0
    os.close(reading)
    assert b"at-work on tiny" in printed
    assert b"Traceback" not in printed
    assert b"\x1b]0" not in printed
    assert b"\x1b[31m" not in printed
