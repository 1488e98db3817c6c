"""A training that diverges, as a user meets it: command line, worker, run folder, store, table."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Command = Callable[..., Any]

GRID = ("run", "--methods", "lora[train.lr=1e37],ia3", "--tasks", "gsm8k", "--limit", "2")
GRID += ("--train-limit", "40", "--set", "train.epochs=1", "--set", "protocol.max_new_tokens=4")
GRID += ("--slots", "1")


@pytest.fixture(scope="module")
def place(program: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("diverged")
    done = program(folder, *GRID)
    assert done.returncode == 1, done.stderr
    (folder / "printed.txt").write_text(done.stdout)
    return folder


def diverged(place: Path) -> Path:
    (path,) = place.glob("runs/*/divergence.json")
    return path.parent


def test_the_run_ends_at_the_step_and_leaves_neither_adapter_nor_answers(place: Path) -> None:
    folder = diverged(place)
    found = json.loads((folder / "divergence.json").read_text(), parse_constant=pytest.fail)
    assert (found["step"], found["reason"]) == (2, "the loss is nan")
    assert found["trainable_parameters"] == 263040  # as `harness methods` counts lora on tiny
    events = map(json.loads, (folder / "events.jsonl").read_text().splitlines())
    assert max(event.get("step", 0) for event in events) == 2
    left = {path.name for path in folder.iterdir()}
    assert not left & {"adapter", "generations", "result.json", "training.json", "failure.json"}


def test_table_and_summary_name_it_with_step_and_reason(place: Path) -> None:
    printed = (place / "printed.txt").read_text()
    assert "seed 2333 diverged: step 2: the loss is nan" in printed
    assert "1 run finished" in printed
    assert f"{diverged(place).name} diverged and is not run again" in printed


def test_the_same_command_does_not_run_it_again_and_says_so(place: Path, harness: Command) -> None:
    before = (diverged(place) / "events.jsonl").read_bytes()
    assert "(diverged)" in harness(place, *GRID, "--dry-run").stdout
    done = harness(place, *GRID)
    assert done.returncode == 1
    assert "0 runs finished" in done.stdout
    assert "diverged and is not run again" in done.stdout
    assert (diverged(place) / "events.jsonl").read_bytes() == before


@pytest.mark.parts
def test_a_grid_of_several_groups_that_diverges_prints_a_table_of_each_with_the_reasons(
    program: Command, harness: Command, tmp_path: Path
) -> None:
    grid = [*GRID[:2], "lora", *GRID[3:], "--set", "train.lr=1e37"]
    grid[grid.index("gsm8k")] = "gsm8k,boolq"
    done = program(tmp_path, *grid)
    assert done.returncode == 1
    titles = [line for line in done.stdout.splitlines() if "no run finished" in line]
    assert [title.partition(":")[0] for title in titles] == ["math", "commonsense"]
    assert done.stdout.count("diverged |") == 2
    assert done.stdout.count("seed 2333 diverged: step 2: the loss is nan") == 2
    stored = harness(tmp_path, "table", "--tasks", "math")
    text, _, command = stored.stdout.strip().rpartition("\nCommand: ")
    assert text in done.stdout
    assert command == "harness table --tasks math"


def test_history_and_show_give_status_and_reason(place: Path, harness: Command) -> None:
    run = diverged(place).name
    shown = json.loads(harness(place, "show", run, "--json").stdout)
    assert (shown["status"], shown["reason"]) == ("diverged", "step 2: the loss is nan")
    entries = json.loads(harness(place, "history", "--json").stdout)
    assert {entry["status"] for entry in entries} == {"diverged", "finished"}


def test_rescore_passes_it_over_and_reindex_finds_it(place: Path, harness: Command) -> None:
    done = harness(place, "rescore")
    assert (done.returncode, "1 run of" in done.stdout) == (0, True)
    done = harness(place, "reindex", "--store", "again.db")
    assert (done.returncode, "2 runs of" in done.stdout) == (0, True)
