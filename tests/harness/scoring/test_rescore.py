"""`harness rescore`: run folders written by hand, whose generations are then edited."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import plugins
from harness.spec.planned import PlannedRun
from harness.spec.spec import Data
from results.record import Run
from results.runfolder import record_of as index
from results.runfolder.folder import RunFolder
from results.store import Store
from tasks.data.sets import DataSet, load_test, load_training

Command = Callable[..., Any]

ROWS = 4
PAIR = ("gsm8k", "svamp")
RESULT: dict[str, Any] = {
    "started": 1_767_225_600.5,
    "seconds": {"wall": 12.0},
    "environment_id": "0123456789abcdef",
    "resumed": False,
    "trainable_parameters": 5,
    "total_parameters": 1000,
    "adapter_bytes": 20,
    "peak_memory_bytes": 4096,
    "training": {"tokens_per_second": 1234.5},
    "scores": [],
    "flags": [],
}


def described(found: DataSet) -> Data:
    return Data(
        title=found.title,
        kind=found.kind,
        sha256=found.sha256,
        verified=found.verified,
        rows=len(found.rows),
    )


@pytest.fixture
def make(tmp_path: Path, job: Callable[..., PlannedRun]) -> Callable[..., RunFolder]:
    """Write the folder of a run that was tested on four problems and had all of them wrong."""
    group = plugins.group("math")
    benchmarks = map(plugins.benchmark, group.benchmarks)
    gsm8k = load_test("gsm8k", plugins.benchmark("gsm8k"), None)
    training = load_training("math", group, benchmarks, None)

    def write(**changes: Any) -> RunFolder:
        facts = {"tests": {"gsm8k": described(gsm8k)}, "train_data": described(training)}
        one = job(**{**facts, "limit": ROWS, **changes})
        folder = RunFolder(tmp_path / "runs" / one.spec.run_id)
        folder.create(one)
        folder.write("environment.json", {"python": "3.11"})
        folder.write("adapter/train.json", {"rows": 20, "dropped": 0, "cut": 0})
        answer(folder, *ROWS * ["I do not know."])
        folder.write("result.json", RESULT)
        return folder

    return write


def answer(folder: RunFolder, *texts: str) -> None:
    lines = [
        {"id": n, "tokens": 9, "ended": True, "long": False, "text": text}
        for n, text in enumerate(texts)
    ]
    folder.write_lines("generations/gsm8k.jsonl", lines)


def right(count: int) -> list[str]:
    """Give as many right answers as asked for, then wrong ones."""
    rows = load_test("gsm8k", plugins.benchmark("gsm8k"), None).rows[:ROWS]
    return [f"The answer is {row.answer if n < count else '-7777'}." for n, row in enumerate(rows)]


def stored(place: Path) -> list[Run]:
    return list(Store(str(place / "harness.db")).runs())


def accuracy(run: Run | None) -> float:
    assert run is not None
    return run.headline("accuracy")["gsm8k"].value


@pytest.fixture
def scored(make: Callable[..., RunFolder], harness: Command, tmp_path: Path) -> RunFolder:
    folder = make()
    done = harness(tmp_path, "rescore")
    assert done.returncode == 0, done.stderr
    return folder


def test_edited_generations_give_other_scores_in_the_store_and_in_the_run_folder(
    scored: RunFolder, harness: Command, tmp_path: Path
) -> None:
    assert [accuracy(run) for run in stored(tmp_path)] == [0]
    for count in (3, 1):
        answer(scored, *right(count))
        done = harness(tmp_path, "rescore")
        assert "1 runs of runs are scored anew in harness.db." in done.stdout
        assert f"-> {count / ROWS}" in done.stdout
        (run,) = stored(tmp_path)
        assert accuracy(run) == accuracy(index.read(scored)) == count / ROWS
        assert run.scores == getattr(index.read(scored), "scores", None)
        verdicts = scored.read_lines("verdicts/gsm8k.jsonl")
        assert sum(verdict["correct"]["llm-adapters"] for verdict in verdicts) == count


def test_flags_are_those_of_the_new_scores(
    scored: RunFolder, harness: Command, tmp_path: Path
) -> None:
    (before,) = stored(tmp_path)
    assert before.flags
    answer(scored, *right(ROWS))
    harness(tmp_path, "rescore")
    (after,) = stored(tmp_path)
    assert after.flags == ()


def test_only_scores_and_flags_change(scored: RunFolder, harness: Command, tmp_path: Path) -> None:
    kept = {name: scored.read(name) for name in ("spec.json", "job.json", "environment.json")}
    answer(scored, *right(2))
    harness(tmp_path, "rescore")
    assert {name: scored.read(name) for name in kept} == kept
    result = scored.read("result.json")
    assert {key: value for key, value in result.items() if key not in {"scores", "flags"}} == {
        key: value for key, value in RESULT.items() if key not in {"scores", "flags"}
    }
    (run,) = stored(tmp_path)
    assert run.run_id == scored.path.name == scored.job().spec.run_id


def test_scored_again_without_a_change_nothing_is_said_to_change(
    scored: RunFolder, harness: Command, tmp_path: Path
) -> None:
    assert harness(tmp_path, "rescore").stdout == "1 runs of runs are scored anew in harness.db.\n"
    assert len(stored(tmp_path)) == 1


def refused(harness: Command, place: Path, folder: RunFolder) -> str:
    before = folder.read("result.json")
    done = harness(place, "rescore")
    assert done.returncode == 1, done.stderr
    assert folder.read("result.json") == before
    (line, *_) = [line for line in done.stdout.splitlines() if str(folder.path.name) in line]
    assert "left as it is" in line
    return str(done.stdout)


def test_a_run_whose_data_are_absent_is_left_as_it_is_and_named_and_the_others_are_done(
    make: Callable[..., RunFolder], harness: Command, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    sound, gone = make(), make(limit=3)
    gone.write("job.json", {**gone.read("job.json"), "data_folder": str(tmp_path / "empty")})
    answer(gone, *right(3)[:3])
    answer(sound, *right(3))
    said = refused(harness, tmp_path, gone)
    assert "none of these files is there" in said
    assert "1 runs of runs are scored anew" in said
    assert [accuracy(run) for run in stored(tmp_path)] == [3 / 4]


def test_a_run_whose_data_are_others_now_is_left_as_it_is_and_named(
    make: Callable[..., RunFolder], harness: Command, tmp_path: Path
) -> None:
    other = Data(title="sample", kind="sample", sha256="ab" * 32, verified=True, rows=60)
    said = refused(harness, tmp_path, make(tests={"gsm8k": other}))
    assert "SHA-256" in said


def test_a_run_that_lacks_generations_is_left_as_it_is_and_named(
    make: Callable[..., RunFolder], harness: Command, tmp_path: Path
) -> None:
    folder = make()
    folder.drop("generations/gsm8k.jsonl")
    assert "generations" in refused(harness, tmp_path, folder)


def test_a_run_of_which_one_benchmark_cannot_be_scored_keeps_the_verdicts_of_the_others(
    make: Callable[..., RunFolder], harness: Command, tmp_path: Path
) -> None:
    tests = {name: described(load_test(name, plugins.benchmark(name), None)) for name in PAIR}
    folder = make(tests=tests)
    refused(harness, tmp_path, folder)
    assert not folder.has("verdicts/gsm8k.jsonl")


def test_a_score_of_a_metric_that_cannot_be_measured_here_stays(
    make: Callable[..., RunFolder], harness: Command, tmp_path: Path
) -> None:
    folder = make()
    fields = {"benchmark": "gsm8k", "metric": "meteor", "extractor": "", "headline": True}
    folder.write("result.json", {**RESULT, "scores": [{**fields, "value": 12.5, "n": ROWS}]})
    harness(tmp_path, "rescore")
    assert [run.headline("meteor")["gsm8k"].value for run in stored(tmp_path)] == [12.5]


@pytest.mark.parametrize("count", [3, 5])
def test_a_run_of_fewer_or_more_generations_than_rows_is_left_as_it_is_and_named(
    count: int, make: Callable[..., RunFolder], harness: Command, tmp_path: Path
) -> None:
    folder = make()
    answer(folder, *count * ["7"])
    refused(harness, tmp_path, folder)


def test_a_run_of_an_older_spec_is_left_as_it_is_and_named(
    make: Callable[..., RunFolder], harness: Command, tmp_path: Path
) -> None:
    folder = make()
    spec = folder.read("spec.json")
    folder.write("spec.json", {**spec, "protocol": {"id": "paper", "version": 1}})
    refused(harness, tmp_path, folder)


def test_runs_without_a_result_are_none_to_score(
    make: Callable[..., RunFolder], harness: Command, tmp_path: Path
) -> None:
    folder = make()
    folder.drop("result.json")
    folder.note_failure("ended by SIGKILL")
    assert harness(tmp_path, "rescore").stdout.startswith("0 runs of runs are scored anew")


WITHOUT_TORCH = """
import sys
for name in ("torch", "transformers", "peft", "accelerate"):
    sys.modules[name] = None  # an import of it is an ImportError
from harness.cli import main
sys.argv = ["harness", "rescore"]
main()
"""


def test_scoring_anew_needs_no_torch(make: Callable[..., RunFolder], tmp_path: Path) -> None:
    folder = make()
    answer(folder, *right(2))
    command = [sys.executable, "-c", WITHOUT_TORCH]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HARNESS_")}
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": os.fspath(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [accuracy(run) for run in stored(tmp_path)] == [1 / 2]


def test_history_shows_the_new_score(scored: RunFolder, harness: Command, tmp_path: Path) -> None:
    answer(scored, *right(1))
    harness(tmp_path, "rescore")
    (entry,) = json.loads(harness(tmp_path, "show", scored.path.name, "--json").stdout)["scores"][
        :1
    ]
    assert entry["value"] == 1 / 4
