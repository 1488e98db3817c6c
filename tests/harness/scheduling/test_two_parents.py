"""Two processes with the same grid: real parents and workers, whose runs are stand-ins."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.spec.planned import PlannedRun
from results.runfolder import attempts
from results.runfolder.folder import RunFolder
from results.store import Reader, Store

CELLS = 24
ACT = """
import os, time
time.sleep(0.05)
with open(folder.path.parent / "worked", "a") as worked:
    worked.write(f"{folder.path.name} {os.getppid()}\\n")
finish()
with open(folder.path.parent / "finished", "a") as finished:
    finished.write(f"{folder.path.name}\\n")
"""
PROCESSES = 4
"""Workers of both parents."""


@pytest.fixture
def cells(planned: Callable[..., PlannedRun], tmp_path: Path) -> list[PlannedRun]:
    found = [planned(limit=limit) for limit in range(1, CELLS + 1)]
    texts = [one.model_dump(mode="json") for one in found]
    (tmp_path / "planned.json").write_text(json.dumps(texts))
    for one in found:
        folder = tmp_path / "runs" / one.spec.run_id
        folder.mkdir(parents=True)
        (folder / "act.py").write_text(ACT)
    return found


def parent(place: Path) -> "subprocess.Popen[str]":
    files = [os.fspath(place / name) for name in ("planned.json", "harness.db", "runs")]
    command = [sys.executable, "-m", "tests.harness.scheduling.parent", *files]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_two_parents_share_a_grid_and_finish_no_cell_twice(
    cells: list[PlannedRun], tmp_path: Path
) -> None:
    Store(tmp_path / "harness.db")
    both = [parent(tmp_path) for _ in range(2)]
    for one in both:
        said, errors = one.communicate(timeout=120)
        assert one.returncode == 0, errors
        summary = json.loads(said.splitlines()[-1])
        # Each ends only when all cells have ended somewhere.
        assert summary["stored"] + summary["finished"] + summary["by_others"] == CELLS
    ids = {one.spec.run_id for one in cells}
    finished = lines(tmp_path / "runs" / "finished")
    assert Counter(finished) == dict.fromkeys(ids, 1)
    assert Reader(tmp_path / "harness.db").finished_ids() == ids
    workers = Counter(line.split()[1] for line in lines(tmp_path / "runs" / "worked"))
    assert len(workers) == PROCESSES, f"cells by worker: {workers}"


def test_what_a_killed_parent_had_is_taken_over_by_the_other(
    cells: list[PlannedRun], tmp_path: Path, until: Callable[..., bool]
) -> None:
    Store(tmp_path / "harness.db")
    worked = tmp_path / "runs" / "worked"
    killed, other = parent(tmp_path), parent(tmp_path)
    assert until(lambda: len(lines(worked)) > CELLS // 4, 60)
    killed.kill()
    killed.communicate()
    _, errors = other.communicate(timeout=120)
    assert other.returncode == 0, errors
    ids = {one.spec.run_id for one in cells}
    assert Reader(tmp_path / "harness.db").finished_ids() == ids
    for run_id in ids:
        found = attempts.attempts(RunFolder(tmp_path / "runs" / run_id))
        # None, where the kill came between the result and that word.
        assert [one.status for one in found].count("finished") <= 1
