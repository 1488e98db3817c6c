"""Each part on a CPU, in small."""

from pathlib import Path

import pytest
import torch

from benchmarks.gpu import missing_card, real_shape, repeatability, suite, tiny, two_slots
from benchmarks.gpu.kept import EXPECTED
from benchmarks.gpu.missing_card import planned_here
from benchmarks.gpu.part import Part, Row
from harness.spec.planned import PlannedRun

SHORT = ("--tasks", "gsm8k", "--limit", "1", "--train-limit", "20")
SECONDS = 300.0


def rows(part: Part) -> list[Row]:
    return [row for item in part.items() for row in part.measure(item, SECONDS)]


def outcomes(part: Part) -> list[str]:
    return [row["outcome"] for row in rows(part)]


def for_a_gpu() -> PlannedRun:
    return planned_here().model_copy(update={"gpu": True})


@pytest.mark.parts
def test_a_run_that_was_planned_for_a_gpu_fails_where_there_is_none(tmp_path: Path) -> None:
    (row,) = rows(missing_card.part(tmp_path, for_a_gpu))
    assert row["outcome"] == EXPECTED
    assert "CUDA_VISIBLE_DEVICES is '99'" in row["reason"]


@pytest.mark.parts
def test_every_method_runs_once_under_the_engines_that_it_is_the_same_under(tmp_path: Path) -> None:
    found = rows(tiny.part(tmp_path, ["lora", "adalora:small"], SHORT, "float32"))
    assert [(row["method"], row["engine"]) for row in found] == [
        ("lora", "torch"),
        ("adalora:small", "torch"),
        ("lora", "deepspeed"),
    ]
    assert {row["outcome"] for row in found} == {EXPECTED}
    assert all(row["validation loss"] > 0 for row in found)
    begun = [path.stat().st_mtime for path in tmp_path.glob("*/runs/*/result.json")]
    other = tiny.part(tmp_path, ["lora"], SHORT, weights="bfloat16")
    (row,) = other.measure("torch", SECONDS)
    assert row["outcome"] == "finished in float32"
    assert begun == [path.stat().st_mtime for path in tmp_path.glob("*/runs/*/result.json")]


def test_all_methods_that_train_are_run_on_tiny() -> None:
    found = tiny.small_methods()
    assert len(found) == 22
    assert {"lora", "cascade:small"} < set(found)


@pytest.mark.parts
def test_a_run_is_made_twice_and_compared(tmp_path: Path) -> None:
    (row,) = rows(repeatability.part(tmp_path, ["lora"], SHORT))
    assert row == {
        "method": "lora",
        "adapter": "equal",
        "answers equal": 1,
        "answers": 1,
        "outcome": EXPECTED,
    }


@pytest.mark.parts
def test_two_slots_run_side_by_side_and_one_does_not(tmp_path: Path) -> None:
    # The worker of the second slot has to import before the first run ends.
    size = (*SHORT, "--set", "train.epochs=80")
    found = rows(two_slots.part(tmp_path, ("lora", "vera"), size, per="slots"))
    assert [(row["slots"], row["method"]) for row in found] == [
        ("1", "lora"),
        ("1", "vera"),
        ("2", "lora"),
        ("2", "vera"),
    ]
    assert {row["outcome"] for row in found} == {EXPECTED}


STAND_IN = """
import sys

if sys.argv[1] == "dora":
    sys.exit("killed")
print("loading")
print('{"step, s": 0.5}')
if sys.argv[1] == "vera":
    sys.exit("no model of memory")
print('{"step, s": 0.5, "outcome": "as expected"}')
"""


def test_a_method_that_ends_its_process_ends_only_its_row_and_keeps_what_was_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stand_in.py").write_text(STAND_IN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert rows(real_shape.part(["dora", "lora", "vera"], "stand_in")) == [
        {"method": "dora", "outcome": "killed"},
        {"method": "lora", "step, s": 0.5, "outcome": EXPECTED},
        {"method": "vera", "step, s": 0.5, "outcome": "no model of memory"},
    ]


@pytest.mark.parts
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_the_tests_of_a_mark_are_run_by_file_and_those_that_were_skipped_stand_out(
    tmp_path: Path,
) -> None:
    file = "tests/benchmarks/gpu/test_one_method.py"
    (row,) = rows(suite.part(tmp_path, "gpu", [file]))
    assert row == {"file": file, "passed": 0, "failed": 0, "skipped": 1, "outcome": "skipped"}
    (row,) = rows(suite.part(tmp_path, "not gpu", [file]))
    assert (row["passed"], row["failed"], row["outcome"]) == (2, 0, EXPECTED)


@pytest.mark.parts
def test_tests_that_cannot_be_listed_are_not_passed_over(tmp_path: Path) -> None:
    (row,) = rows(suite.part(tmp_path, "gpu", ["tests/no_such_file.py"]))
    assert "no_such_file" in row["outcome"]
