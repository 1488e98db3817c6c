"""`harness reindex`: the store from the run folders alone."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from results.record import Verdicts
from results.runfolder.folder import RunFolder
from results.runfolder.record_of import folders, record_of
from results.runfolder.verdicts_of import verdicts_of
from results.store import Reader, Store

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


def test_runs_that_were_stored_without_verdicts_get_them(harness: Command, tmp_path: Path) -> None:
    store, known = Store(tmp_path / "harness.db"), folders(FORMAT_1)
    runs = [run for folder in known if (run := record_of(folder))]
    for run in runs:
        store.add(run)
    assert store.verdicts(runs) == {}
    assert harness(tmp_path, "reindex", "--runs", str(FORMAT_1)).returncode == 0
    expected = {folder.path.name: by_benchmark(folder) for folder in known}
    assert store.verdicts(runs) == {name: found for name, found in expected.items() if found}
    assert any(expected.values())


def by_benchmark(folder: RunFolder) -> dict[str, Verdicts]:
    return {one.benchmark: one for one in verdicts_of(folder)}


def test_damaged_verdicts_are_named_and_the_run_is_taken(harness: Command, tmp_path: Path) -> None:
    root = tmp_path / "runs"
    shutil.copytree(FORMAT_1, root)
    damaged = next(root.glob("*/verdicts/boolq.jsonl"))
    damaged.write_text("{")
    done = harness(tmp_path, "reindex")
    assert done.returncode == 1
    assert "verdicts left out: " in done.stdout
    assert f"{damaged.name} is damaged" in done.stdout
    assert "4 runs of runs indexed in harness.db." in done.stdout
