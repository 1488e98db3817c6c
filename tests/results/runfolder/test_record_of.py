from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from harness.spec.planned import PlannedRun
from results.record import Score
from results.runfolder import record_of as index
from results.runfolder.folder import RunFolder
from results.store import Store

RESULT: dict[str, Any] = {
    "started": 1_767_225_600.5,  # 2026-01-01, and half a second
    "seconds": {"load": 1.0, "train": 6.0, "generate": 3.0, "wall": 12.0},
    "environment_id": "0123456789abcdef",
    "resumed": False,
    "trainable_parameters": 5,
    "total_parameters": 1000,
    "adapter_bytes": 20,
    "peak_memory_bytes": 4096,
    "training": {"tokens_per_second": 1234.5, "best_step": 7},
    "scores": [
        {
            "benchmark": "gsm8k",
            "metric": "accuracy",
            "extractor": extractor,
            "headline": headline,
            "value": right / 50,
            "n": 50,
            "unparsed": 2,
        }
        for extractor, headline, right in (("llm-adapters", True, 20), ("strict", False, 15))
    ],
    "flags": ["gsm8k: cut at the limit: 80 %"],
}
"""What harness.worker.stages writes at the end."""


@pytest.fixture
def finished(tmp_path: Path, job: Callable[..., PlannedRun]) -> RunFolder:
    folder = RunFolder(tmp_path / "runs" / job().spec.run_id)
    folder.create(job())
    folder.write("environment.json", {"python": "3.11", "packages": {"torch": "2.13"}})
    folder.write("result.json", RESULT)
    return folder


@pytest.fixture
def failed(tmp_path: Path, job: Callable[..., PlannedRun]) -> RunFolder:
    one = job(limit=50)
    folder = RunFolder(tmp_path / "runs" / one.spec.run_id)
    folder.create(one)
    folder.note_failure("ValueError: no such layer", seconds=3.0)
    return folder


def test_a_finished_run_is_read_with_all_that_it_recorded(
    finished: RunFolder, job: Callable[..., PlannedRun]
) -> None:
    run, spec = index.read(finished), job().spec
    assert run is not None
    assert (run.run_id, run.setting, run.series) == (spec.run_id, spec.setting, spec.series)
    assert (run.status, run.reason) == ("finished", "")
    assert run.started == datetime(2026, 1, 1, 0, 0, 0, 500_000, tzinfo=UTC)
    assert run.seconds == RESULT["seconds"]
    assert (run.method, run.backbone, run.group, run.seed) == ("lora", "tiny", "math", 2333)
    assert (run.marks, run.protocol) == (spec.marks, f"paper/{spec.protocol.version}")
    assert run.spec == finished.read("spec.json")
    assert run.environment == finished.read("environment.json")
    assert run.environment_id == "0123456789abcdef"
    numbers = (run.trainable_parameters, run.total_parameters, run.adapter_bytes)
    assert numbers == (5, 1000, 20)
    assert (run.peak_memory_bytes, run.train_tokens_per_second) == (4096, 1234.5)
    assert run.scores == (
        Score("gsm8k", "accuracy", "llm-adapters", True, 0.4, 50, 2),
        Score("gsm8k", "accuracy", "strict", False, 0.3, 50, 2),
    )
    assert run.flags == ("gsm8k: cut at the limit: 80 %",)
    assert run.folder == str(finished.path)


def test_a_failed_run_is_read_with_its_reason(failed: RunFolder) -> None:
    run = index.read(failed)
    assert run is not None
    assert (run.status, run.reason) == ("failed", "ValueError: no such layer")
    assert run.seconds == {"wall": 3.0}
    assert (run.scores, run.total_parameters, run.environment) == ((), 0, {})


def test_a_run_without_an_end_is_none_yet(tmp_path: Path, job: Callable[..., PlannedRun]) -> None:
    folder = RunFolder(tmp_path)
    folder.create(job())
    assert index.read(folder) is None


def test_a_result_counts_for_more_than_the_failure_of_an_earlier_attempt(
    finished: RunFolder,
) -> None:
    finished.note_failure("ended by SIGKILL")
    run = index.read(finished)
    assert run is not None
    assert run.status == "finished"


def test_adding_folders_twice_leaves_one_row_each(
    finished: RunFolder, failed: RunFolder, tmp_path: Path
) -> None:
    store = Store(tmp_path / "harness.db")
    for _ in range(2):
        for folder in index.folders(tmp_path / "runs"):
            run = index.read(folder)
            assert run is not None
            store.add(run)
    assert {run.status: run for run in store.runs()} == {
        "finished": index.read(finished),
        "failed": index.read(failed),
    }
    assert len(store.runs()) == 2
    assert store.finished_ids() == {finished.path.name}


def test_only_run_folders_are_listed(finished: RunFolder, tmp_path: Path) -> None:
    root = tmp_path / "runs"
    (root / "notes").mkdir()
    (root / "readme.txt").touch()
    assert [folder.path for folder in index.folders(root)] == [finished.path]
    assert index.folders(tmp_path / "nowhere") == []
