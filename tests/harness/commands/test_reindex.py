"""`harness reindex`: the store from the run folders alone."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from results.runfolder.record_of import folders, record_of
from results.store import Reader

Command = Callable[..., Any]

FORMAT_1 = Path(__file__).parents[2] / "results" / "runfolder" / "format_1"


def test_folders_of_format_1_are_taken_where_they_lie(harness: Command, tmp_path: Path) -> None:
    done = harness(tmp_path, "reindex", "--runs", str(FORMAT_1))
    assert done.returncode == 0, done.stderr
    assert f"4 runs of {FORMAT_1} indexed in harness.db." in done.stdout
    runs = {run.run_id: run for run in Reader(tmp_path / "harness.db").runs()}
    assert runs == {folder.path.name: record_of(folder) for folder in folders(FORMAT_1)}


def test_a_damaged_folder_is_left_out_and_named_and_the_others_are_taken(
    harness: Command, tmp_path: Path
) -> None:
    root = tmp_path / "runs"
    shutil.copytree(FORMAT_1, root)
    damaged, newer, *_ = folders(root)
    (damaged.path / "result.json").write_text("{")
    (newer.path / "run.json").write_text(json.dumps({"format": 99}))
    done = harness(tmp_path, "reindex")
    assert done.returncode == 1
    assert f"{damaged.path.name}: left out: " in done.stdout
    assert "result.json is damaged" in done.stdout
    assert "Upgrade the harness." in done.stdout
    assert "2 runs of runs indexed in harness.db." in done.stdout


def test_a_folder_that_is_not_there_is_a_mistake_and_makes_no_store(
    harness: Command, tmp_path: Path
) -> None:
    done = harness(tmp_path, "reindex", "--runs", "nowhere")
    assert done.returncode == 2
    assert "nowhere: no such folder." in done.stderr
    assert not list(tmp_path.iterdir())
