"""To cancel, to forget and to retry a run, by the commands; runs are planned here, not trained."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.scheduling.executors.conformance.stand_in import RESULT
from harness.spec.planned import PlannedRun
from harness.spec.recipe import Recipe
from results.runfolder import attempts, wishes
from results.runfolder.folder import RunFolder
from results.runfolder.record_of import record_of
from results.store import Reader, Store

Command = Callable[..., Any]


@pytest.fixture
def folder(tmp_path: Path, planned: Callable[..., PlannedRun]) -> RunFolder:
    """Make a folder whose run waits."""
    one = planned()
    found = RunFolder(tmp_path / "runs" / one.spec.run_id)
    found.create(*one.kept)
    return found


@pytest.fixture
def finished(folder: RunFolder, tmp_path: Path) -> RunFolder:
    folder.write_result(RESULT)
    record = record_of(folder)
    assert record
    Store(tmp_path / "harness.db").add(record)
    return folder


def test_cancel_leaves_the_wish_in_the_folder_of_a_run_that_is_not_stored(
    folder: RunFolder, harness: Command, tmp_path: Path
) -> None:
    done = harness(tmp_path, "cancel", folder.path.name[:6])
    assert done.returncode == 0, done.stderr
    assert wishes.is_cancelled(folder)
    assert "is not at work, and no command" in done.stdout


def test_cancel_says_of_a_run_at_work_that_it_finishes_its_step(
    folder: RunFolder, harness: Command, tmp_path: Path
) -> None:
    with folder.locked():
        done = harness(tmp_path, "cancel", folder.path.name)
    assert "it does after the step at work" in done.stdout


def test_cancel_refuses_a_run_that_ended(
    finished: RunFolder, harness: Command, tmp_path: Path
) -> None:
    done = harness(tmp_path, "cancel", finished.path.name)
    assert done.returncode == 2
    assert "came to its end already" in done.stderr


def test_a_forgotten_run_leaves_tables_and_comes_back_forgotten_by_reindex(
    finished: RunFolder, harness: Command, tmp_path: Path
) -> None:
    run_id = finished.path.name
    assert run_id[:6] in harness(tmp_path, "history", "--json").stdout
    done = harness(tmp_path, "forget", run_id, "--reason", "the wrong data")
    assert done.returncode == 0, done.stderr
    assert finished.finished
    assert "the wrong data" in harness(tmp_path, "show", run_id).stdout
    (tmp_path / "harness.db").unlink()
    harness(tmp_path, "reindex")
    assert Reader(tmp_path / "harness.db").runs() == []
    assert Reader(tmp_path / "harness.db").forgotten_ids() == {run_id}


def test_forget_deletes_files_only_where_that_is_asked_for(
    finished: RunFolder, harness: Command, tmp_path: Path
) -> None:
    words = ("forget", finished.path.name, "--reason", "the wrong data")
    harness(tmp_path, *words, "--files")
    assert list((tmp_path / "runs").iterdir()) == []
    assert Reader(tmp_path / "harness.db").run(finished.path.name).forgotten == "the wrong data"


@pytest.mark.parametrize(
    ("words", "told"), [(("--reason", " "), "--reason is empty"), ((), "Missing option '--reason'")]
)
def test_forget_asks_for_a_reason(
    words: tuple[str, ...], told: str, finished: RunFolder, harness: Command, tmp_path: Path
) -> None:
    done = harness(tmp_path, "forget", finished.path.name, *words)
    assert done.returncode == 2
    assert told in done.stderr


def test_a_run_at_work_is_not_forgotten(
    folder: RunFolder, harness: Command, tmp_path: Path
) -> None:
    with folder.locked():
        done = harness(tmp_path, "forget", folder.path.name, "--reason", "the wrong data")
    assert done.returncode == 2
    assert "harness cancel" in done.stderr
    assert not wishes.forgotten(folder)


@pytest.mark.parametrize("words", [(), ("--files",)])
def test_a_run_at_work_on_another_machine_is_not_forgotten(
    words: tuple[str, ...], folder: RunFolder, harness: Command, tmp_path: Path
) -> None:
    begun = attempts.begin(folder)
    assert begun
    attempts.keep(folder, begun.model_copy(update={"host": "another"}))
    done = harness(tmp_path, "forget", folder.path.name, "--reason", "the wrong data", *words)
    assert done.returncode == 2
    assert "harness cancel" in done.stderr
    assert not wishes.forgotten(folder)
    assert attempts.last(folder)


def test_a_stored_run_without_its_folder_is_forgotten_in_the_store_alone(
    finished: RunFolder, harness: Command, tmp_path: Path
) -> None:
    run_id = finished.path.name
    shutil.rmtree(finished.path)
    done = harness(tmp_path, "forget", run_id, "--reason", "the wrong data")
    assert done.returncode == 0, done.stderr
    assert "is not there: the store alone keeps this" in done.stdout
    assert Reader(tmp_path / "harness.db").forgotten_ids() == {run_id}


def test_retry_refuses_what_came_to_its_end(
    finished: RunFolder, harness: Command, tmp_path: Path
) -> None:
    done = harness(tmp_path, "retry", finished.path.name)
    assert done.returncode == 2
    assert "harness rerun" in done.stderr


@pytest.mark.parametrize("words", [(), ("abc", "--failed")])
def test_retry_wants_runs_or_all_of_them(
    words: tuple[str, ...], harness: Command, tmp_path: Path
) -> None:
    done = harness(tmp_path, "retry", *words)
    assert done.returncode == 2
    assert "--failed" in done.stderr


def test_retry_of_all_failed_runs_refuses_a_folder_that_is_not_there(
    harness: Command, tmp_path: Path
) -> None:
    done = harness(tmp_path, "retry", "--failed", "--runs", "typo")
    assert done.returncode == 2
    assert "typo: no such folder" in done.stderr


def test_a_folder_that_cannot_be_read_keeps_no_other_from_being_retried(
    folder: RunFolder, harness: Command, tmp_path: Path
) -> None:
    (folder.path / "failure.json").mkdir()
    done = harness(tmp_path, "retry", "--failed")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "No run has failed.\n"


EXECUTOR = """
from harness.scheduling.executors.conformance.stand_in import COMMAND
from harness.scheduling.executors.local import LocalExecutor

executor = lambda resources: LocalExecutor(resources.here(), COMMAND)
"""


@pytest.fixture
def stand_in(folder: RunFolder, tmp_path: Path, install: Callable[..., Path]) -> list[str]:
    """Give the words that run a folder in the stand-in of the worker, whose act fails."""
    install("[harness.executors]\nstand_in = extra.stand_in:executor\n", stand_in=EXECUTOR)
    (folder.path / "act.py").write_text("raise ValueError('no such layer')")
    (folder.path / "beside").write_text(str(tmp_path))
    return ["--executor", "stand_in"]


def test_a_run_that_is_retried_and_fails_in_the_same_way_has_two_attempts_and_fails(
    folder: RunFolder, stand_in: list[str], harness: Command, tmp_path: Path
) -> None:
    ends = []
    for words in (["--failed"], [folder.path.name], ["--failed"]):
        done = harness(tmp_path, "retry", *words, *stand_in)
        ends.append((done.returncode, len(attempts.attempts(folder))))
    assert ends == [(0, 0), (1, 1), (1, 2)]  # first, nothing has failed yet
    assert "ValueError: no such layer" in done.stderr
    shown = harness(tmp_path, "show", str(folder.path), "--all").stdout
    assert shown.count("failed (exception): ValueError: no such layer") == 2
    assert Reader(tmp_path / "harness.db").run(folder.path.name).status == "failed"


REFUSING = """
from harness.errors import UserError

def executor(resources):
    raise UserError(f"Asked for {resources.gpus_per_run} of {resources.device}.")
"""


@pytest.mark.parametrize(("gpu", "asked"), [(True, "2 of gpu"), (False, "2 of cpu")])
def test_a_retried_run_takes_the_gpus_and_processes_it_was_planned_with(
    gpu: bool,
    asked: str,
    planned: Callable[..., PlannedRun],
    install: Callable[..., Path],
    harness: Command,
    tmp_path: Path,
) -> None:
    install("[harness.executors]\nrefusing = extra.refusing:executor\n", refusing=REFUSING)
    one = planned(train=Recipe(processes=2)).model_copy(update={"gpu": gpu})
    folder = RunFolder(tmp_path / "runs" / one.spec.run_id)
    folder.create(*one.kept)
    done = harness(tmp_path, "retry", one.spec.run_id, "--executor", "refusing")
    assert done.returncode == 2
    assert f"Asked for {asked}." in done.stderr


def test_runs_for_gpus_and_for_cpus_are_not_retried_together(
    planned: Callable[..., PlannedRun], harness: Command, tmp_path: Path
) -> None:
    ids = []
    for processes, gpu in ((1, True), (2, False), (3, True)):
        one = planned(train=Recipe(processes=processes)).model_copy(update={"gpu": gpu})
        folder = RunFolder(tmp_path / "runs" / one.spec.run_id)
        folder.create(*one.kept)
        ids.append(one.spec.run_id)
    done = harness(tmp_path, "retry", *ids)
    assert done.returncode == 2
    assert "2 of these runs were planned for GPUs and 1 for CPUs." in done.stderr
    assert ids[1] in done.stderr
    assert ids[0] not in done.stderr
    assert not attempts.attempts(RunFolder(tmp_path / "runs" / ids[1]))


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    "command", [["rescore"], ["forget", "runs/{}", "--reason", "the wrong data"]]
)
def test_a_fifo_in_the_place_of_a_lock_is_named_at_once(
    command: list[str], finished: RunFolder, harness: Command, tmp_path: Path, hostile: Any
) -> None:
    hostile("FIFO", finished.path / "lock")
    done = harness(tmp_path, *(word.format(finished.path.name) for word in command))
    assert done.returncode in (1, 2)
    assert "lock is a FIFO, not a file." in done.stdout + done.stderr


def test_show_lists_every_attempt_with_its_end(
    folder: RunFolder, harness: Command, tmp_path: Path
) -> None:
    for reason in ("no room", "no such layer"):
        begun = attempts.begin(folder)
        assert begun
        attempts.close(folder, reason, "exception")
    shown = harness(tmp_path, "show", str(folder.path), "--all").stdout
    assert "1. " in shown
    assert "failed (exception): no room" in shown
    assert "failed (exception): no such layer" in shown
