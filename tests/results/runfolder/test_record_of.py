"""From run folders to records, without any other package of the project."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from results.record import Run
from results.runfolder.folder import RunFolder, RunFolderError
from results.runfolder.record_of import folders, record_of
from results.runfolder.values import Divergence, Environment, Head, Result, TrainRecord
from results.store import Store

STACK: dict[str, Any] = {
    "packages": {"torch": "2.13"},
    "python": "3.11.7",
    "torch": "2.13+cpu",
    "device": "CPU",
    "machine": {"threads": 2},
    "harness": {"dirty": False},
}


@pytest.fixture
def finished(
    tmp_path: Path, create: Callable[..., RunFolder], result: Callable[..., Result]
) -> RunFolder:
    folder = create(tmp_path / "runs" / "0123456789abcdef")
    folder.write_environment(Environment(**STACK))
    record = {"rows": 9, "cut": 0, "dropped": 0, "steps": 7, "tokens": 99, "best_step": 7}
    folder.write_train_record(
        TrainRecord(**record, best_validation_loss=1.5, tokens_per_second=1234.5, trained_rows=8)
    )
    folder.write_result(result())
    return folder


@pytest.fixture
def failed(tmp_path: Path, create: Callable[..., RunFolder]) -> RunFolder:
    folder = create(tmp_path / "runs" / "fedcba9876543210", run_id="fedcba9876543210")
    folder.note_failure("ValueError: no such layer", seconds=3.0)
    return folder


@pytest.fixture
def closed(finished: RunFolder) -> Iterator[Path]:
    """Place a finished run where this process, as another user if need be, may not enter."""
    root = Path(tempfile.mkdtemp())
    root.chmod(0o755)
    shutil.copytree(finished.path, root / finished.path.name)
    (root / finished.path.name).chmod(0)
    user = os.geteuid()
    os.seteuid(user or 65534)
    yield root / finished.path.name
    os.seteuid(user)
    (root / finished.path.name).chmod(0o755)
    shutil.rmtree(root)


def record(folder: RunFolder) -> Run:
    found = record_of(folder)
    assert found is not None
    return found


def test_a_finished_run_is_read_with_all_that_it_recorded(
    finished: RunFolder, head: Callable[..., Head], result: Callable[..., Result]
) -> None:
    run = record(finished)
    of_head = set(Head.model_fields) - {"format", "conditions"}
    assert {name: getattr(run, name) for name in of_head} == head().model_dump(include=of_head)
    of_result = set(Result.model_fields) - {"started", "resumed", "attempt", "sha256"}
    assert {name: getattr(run, name) for name in of_result} == {
        name: getattr(result(), name) for name in of_result
    }
    assert (run.status, run.reason) == ("finished", "")
    assert run.started == datetime(2026, 1, 1, 0, 0, 0, 500_000, tzinfo=UTC)
    assert run.spec == finished.spec()
    # Keys that say nothing are left out.
    assert run.environment == {**STACK, "memory": {}, "determinism": {}}
    assert run.train_tokens_per_second == 1234.5
    assert run.folder == str(finished.path)
    assert run.backbone_place == "somewhere"
    assert run.validation_loss == 1.5
    assert run.trained_rows == 8


def test_what_was_not_the_default_is_named_by_the_head_or_else_by_the_spec(
    tmp_path: Path, create: Callable[..., RunFolder]
) -> None:
    def conditions(name: str, **facts: Any) -> Any:
        folder = create(tmp_path / name, **facts)
        folder.note_failure("ended")
        return record(folder).conditions

    assert conditions("now", conditions={"recipe": {"epochs": 1}}) == {"recipe": {"epochs": 1}}
    assert conditions("earlier") == {}  # lr was 1e-3, the default


def test_a_failed_run_says_in_which_environment_it_was(failed: RunFolder) -> None:
    assert record(failed).environment_id == ""
    failed.write_environment(Environment(**STACK))
    assert record(failed).environment_id == Environment(**STACK).identity


def test_a_failed_run_is_read_with_its_reason(failed: RunFolder) -> None:
    run = record(failed)
    assert (run.status, run.reason) == ("failed", "ValueError: no such layer")
    assert run.seconds == {"wall": 3.0}
    assert (run.scores, run.total_parameters, run.environment) == ((), 0, {})
    assert (run.method, run.setting) == ("lora[r=64]", "setting-a")


def test_a_run_that_diverged_is_read_with_step_reason_environment_and_size(
    create: Callable[..., RunFolder], result: Callable[..., Result]
) -> None:
    folder = create()
    shared = result().model_dump(include=set(Divergence.model_fields))
    folder.write_divergence(Divergence(**shared, step=12, reason="the validation loss is inf"))
    run = record(folder)
    assert (run.status, run.reason) == ("diverged", "step 12: the validation loss is inf")
    assert run.environment_id == result().environment_id
    assert (run.trainable_parameters, run.total_parameters) == (5, 1000)
    assert (run.scores, run.flags, run.adapter_bytes) == ((), (), 0)
    assert run.ended
    assert not folder.finished


def test_a_run_that_trains_nothing_has_no_speed(
    create: Callable[..., RunFolder], result: Callable[..., Result]
) -> None:
    folder = create()
    folder.write_result(result(trainable_parameters=0))
    assert record(folder).train_tokens_per_second == 0.0


def test_a_run_without_an_end_is_none_yet(create: Callable[..., RunFolder]) -> None:
    assert record_of(create()) is None


def test_a_result_counts_for_more_than_the_failure_of_an_earlier_attempt(
    finished: RunFolder,
) -> None:
    finished.note_failure("ended by SIGKILL")
    assert record(finished).status == "finished"


def test_the_reason_of_a_record_has_no_nul_which_no_text_of_postgresql_holds(
    create: Callable[..., RunFolder],
) -> None:
    folder = create()
    folder.note_failure("ValueError: a\0b")
    assert record(folder).reason == r"ValueError: a\x00b"


def test_adding_folders_twice_leaves_one_row_each(
    finished: RunFolder, failed: RunFolder, tmp_path: Path
) -> None:
    store = Store(tmp_path / "harness.db")
    for _ in range(2):
        for folder in folders(tmp_path / "runs"):
            store.add(record(folder))
    stored = {run.status: run for run in store.runs()}
    assert stored == {"finished": record(finished), "failed": record(failed)}
    assert len(store.runs()) == 2
    assert store.finished_ids() == {finished.path.name}


def test_only_run_folders_are_listed(finished: RunFolder, tmp_path: Path) -> None:
    root = tmp_path / "runs"
    (root / "notes").mkdir()
    (root / "readme.txt").touch()
    assert [folder.path for folder in folders(root)] == [finished.path]
    assert folders(tmp_path / "nowhere") == []


ALONE = """
import sys
from pathlib import Path
from results.runfolder.record_of import folders, record_of
print(*[record_of(folder).run_id for folder in folders(Path(sys.argv[1]))])
used = {name.partition(".")[0] for name in sys.modules}
print(*sorted(used & {"harness", "methods", "tasks", "torch", "transformers", "peft"}))
"""


@pytest.mark.parametrize("written", ["now", "in format 1"])
def test_a_record_is_of_the_folder_alone(
    written: str, finished: RunFolder, failed: RunFolder, tmp_path: Path
) -> None:
    # No harness, no backbone, no data, no torch: an archive can be read for years.
    earlier = Path(__file__).parent / "format_1"
    root = tmp_path / "runs" if written == "now" else earlier
    command = [sys.executable, "-c", ALONE, os.fspath(root)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    ids, used = done.stdout.split("\n")[:2]
    assert ids.split() == [folder.path.name for folder in folders(root)]
    assert len(ids.split()) >= 2
    assert used == ""


def peak(allocated: int) -> dict[str, int]:
    return {"allocated": allocated, "reserved": 2 * allocated}


def test_the_memory_of_a_resumed_run_is_that_of_all_its_phases(
    finished: RunFolder, result: Callable[..., Result]
) -> None:
    training = finished.train_record()
    assert training
    trained = {"load": peak(10), "train": peak(9000), "validate": peak(7000)}
    finished.write_train_record(training.model_copy(update={"peak_memory": trained}))
    later = {"load": peak(20), "generate": peak(4096)}
    finished.write_result(result(peak_memory=later, nondeterministic_kernels=("kthvalue CUDA",)))
    run = record(finished)
    assert run.peak_memory == {**trained, **later}
    assert run.peak_memory_bytes == 9000
    assert run.nondeterministic_kernels == ("kthvalue CUDA",)


def test_a_folder_that_may_not_be_entered_is_listed_and_says_why_it_is_not_read(
    closed: Path,
) -> None:
    (folder,) = folders(closed.parent)
    assert folder.path == closed
    with pytest.raises(RunFolderError, match=f"{closed} cannot be read: Permission denied"):
        record_of(folder)


def test_a_folder_of_run_folders_that_may_not_be_read_is_not_an_empty_one(closed: Path) -> None:
    with pytest.raises(RunFolderError, match=f"{closed} cannot be read: Permission denied"):
        folders(closed)
