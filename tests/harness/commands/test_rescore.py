"""`harness rescore`: run folders written by hand, whose generations are then edited."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.commands.stored import marked
from harness.spec.planned import PlannedRun
from harness.spec.spec import Data
from results.analysis.table import tables
from results.record import Run, Score
from results.reports.formats import render
from results.runfolder.folder import RunFolder
from results.runfolder.record_of import record_of
from results.runfolder.values import Environment, Generation, Result, TrainRecord
from results.store import Reader, Store
from tasks.contract import EXTRACTOR_VERSIONS

Command = Callable[..., Any]

ROOT = Path(__file__).parents[3]
FORMAT_1 = ROOT / "tests" / "results" / "runfolder" / "format_1"
GOLD = ("12", "7", "100", "3")
STACK = Environment(packages={}, python="3.11", torch="2", device="CPU", machine={}, harness={})


@pytest.fixture
def make(
    tmp_path: Path,
    planned: Callable[..., PlannedRun],
    train_record: TrainRecord,
    result: Result,
) -> Callable[..., RunFolder]:
    """Write the folder of a run that was tested on four problems and had all of them wrong.

    Neither its data nor its backbone are anywhere.
    """

    def write(**changes: Any) -> RunFolder:
        data = Data(title="GSM8K", kind="published", sha256="ab" * 32, verified=True, rows=60)
        one = planned(**{"tests": {"gsm8k": data}, "limit": len(GOLD), **changes})
        folder = RunFolder(tmp_path / "runs" / one.spec.run_id)
        nowhere = {"backbone_place": "/nowhere", "data_folder": "/nowhere"}
        folder.create(*one.model_copy(update=nowhere).kept)
        folder.write_environment(STACK)
        folder.write_train_record(train_record)
        answer(folder, *len(GOLD) * ["I do not know."])
        folder.write_result(result)
        return folder

    return write


def answer(folder: RunFolder, *texts: str) -> None:
    lines = [
        Generation(id=n, answer=GOLD[n % len(GOLD)], ended=True, long=False, text=text)
        for n, text in enumerate(texts)
    ]
    folder.write_generations("gsm8k", lines)


def right(count: int) -> list[str]:
    """Give as many right answers as asked for, then wrong ones."""
    return [f"The answer is {gold if n < count else '-7777'}." for n, gold in enumerate(GOLD)]


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
        assert "1 run of runs rescored in harness.db." in done.stdout
        assert f"-> {count / len(GOLD)}" in done.stdout
        (run,) = stored(tmp_path)
        assert accuracy(run) == accuracy(record_of(scored)) == count / len(GOLD)
        assert run.scores == getattr(record_of(scored), "scores", None)
        verdicts = scored.verdicts("gsm8k")
        assert sum(verdict.correct["llm-adapters"] for verdict in verdicts) == count
        packed = Reader(tmp_path / "harness.db").verdicts([run])[run.run_id]["gsm8k"]
        assert (int.from_bytes(packed.right).bit_count(), packed.n) == (count, len(GOLD))


EDITED = "lora on tiny, seed 2333: edited after the run: "


def marks(place: Path) -> list[str]:
    (run,) = stored(place)
    found = [mark for mark in run.marks if mark.startswith(EDITED)]
    printed = render(tables([run]), "markdown")
    assert all(mark in printed for mark in found)
    return [mark.removeprefix(EDITED) for mark in found]


def test_an_edited_score_is_named_wherever_the_run_is_until_it_is_scored_again(
    scored: RunFolder, harness: Command, tmp_path: Path
) -> None:
    path = scored.path / "result.json"
    whole = path.read_text()
    assert '"value": 0.0' in whole or '"value":0.0' in whole
    path.write_text(whole.replace('"value": 0.0', '"value": 1.0'))
    harness(tmp_path, "reindex")
    assert marks(tmp_path) == ["result.json"]
    assert (
        "edited after the run: result.json"
        in harness(tmp_path, "show", "runs/" + scored.path.name).stdout
    )
    assert "edited after the run: result.json" in harness(tmp_path, "history").stdout
    harness(tmp_path, "rescore")
    assert marks(tmp_path) == []
    assert accuracy(record_of(scored)) == 0


def test_edited_generations_stay_named_when_they_are_scored(
    scored: RunFolder, harness: Command, tmp_path: Path
) -> None:
    answer(scored, *right(2))
    harness(tmp_path, "rescore")
    assert marks(tmp_path) == ["generations/gsm8k.jsonl.gz"]


def test_a_table_says_which_answers_an_earlier_extractor_read(
    scored: RunFolder, tmp_path: Path
) -> None:
    (run,) = stored(tmp_path)
    first = Score("gsm8k", "accuracy", "strict", True, 0.5, len(GOLD))
    second = replace(first, extractor_version=EXTRACTOR_VERSIONS["strict"])
    old, new = marked([replace(run, scores=(one,)) for one in (first, second)])
    said = "answers read by strict/1, now strict/2: run `harness rescore`"
    assert (old.marks, new.marks) == ((*run.marks, said), run.marks)
    assert said in render(tables([old]), "markdown")


def test_rescoring_writes_the_versions_of_the_extractors(scored: RunFolder, tmp_path: Path) -> None:
    (run,) = stored(tmp_path)
    assert {one.read_by for one in run.scores} == {"llm-adapters/1", "strict/2"}


def test_flags_are_those_of_the_new_scores(
    scored: RunFolder, harness: Command, tmp_path: Path
) -> None:
    (before,) = stored(tmp_path)
    assert before.flags
    answer(scored, *right(len(GOLD)))
    harness(tmp_path, "rescore")
    (after,) = stored(tmp_path)
    assert after.flags == ()


def test_only_scores_and_flags_change(
    scored: RunFolder, result: Result, harness: Command, tmp_path: Path
) -> None:
    may_change = {"result.json", "gsm8k.jsonl", "lock"}

    def others() -> dict[Path, bytes]:
        found = [path for path in scored.path.rglob("*") if path.is_file()]
        return {path: path.read_bytes() for path in found if path.name not in may_change}

    answer(scored, *right(2))
    before = others()
    harness(tmp_path, "rescore")
    assert others() == before
    assert len(before) == 7
    rescored = scored.result()
    assert rescored is not None
    assert rescored.scores
    assert rescored.model_copy(update={"scores": (), "flags": (), "sha256": {}}) == result
    (run,) = stored(tmp_path)
    assert run.run_id == scored.path.name == scored.head().run_id


def test_rescored_without_a_change_nothing_is_said_to_change(
    scored: RunFolder, harness: Command, tmp_path: Path
) -> None:
    assert harness(tmp_path, "rescore").stdout == "1 run of runs rescored in harness.db.\n"
    assert len(stored(tmp_path)) == 1


def refused(harness: Command, place: Path, folder: RunFolder) -> str:
    before = (folder.path / "result.json").read_bytes()
    done = harness(place, "rescore")
    assert done.returncode == 1, done.stderr
    assert (folder.path / "result.json").read_bytes() == before
    (line, *_) = [line for line in done.stdout.splitlines() if str(folder.path.name) in line]
    assert "left as it is" in line
    return str(done.stdout)


def test_a_run_that_lacks_generations_is_left_as_it_is_and_named_and_the_others_are_done(
    make: Callable[..., RunFolder], harness: Command, tmp_path: Path
) -> None:
    sound, without = make(), make(limit=3)
    answer(sound, *right(3))
    (without.path / "generations" / "gsm8k.jsonl.gz").unlink()
    said = refused(harness, tmp_path, without)
    assert "gsm8k.jsonl.gz is missing." in said
    assert "1 run of runs rescored" in said
    assert [accuracy(run) for run in stored(tmp_path)] == [3 / 4]


def test_a_run_whose_generations_are_damaged_is_left_as_it_is_and_named(
    make: Callable[..., RunFolder], harness: Command, tmp_path: Path
) -> None:
    folder = make()
    path = folder.path / "generations" / "gsm8k.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-5])
    assert "gsm8k.jsonl.gz is damaged" in refused(harness, tmp_path, folder)


def test_a_run_of_which_one_benchmark_cannot_be_scored_gets_no_verdicts_of_the_others(
    make: Callable[..., RunFolder], harness: Command, tmp_path: Path
) -> None:
    data = Data(title="sample", kind="sample", sha256="ab" * 32, verified=True, rows=60)
    folder = make(tests={"gsm8k": data, "svamp": data})
    assert "svamp.jsonl.gz is missing." in refused(harness, tmp_path, folder)
    assert not (folder.path / "verdicts").exists()


def test_a_run_of_a_benchmark_that_is_not_installed_is_left_as_it_is_and_named(
    make: Callable[..., RunFolder], harness: Command, tmp_path: Path
) -> None:
    data = Data(title="sample", kind="sample", sha256="ab" * 32, verified=True, rows=60)
    folder = make(tests={"of_a_plugin": data})
    assert "'of_a_plugin' is not a known benchmark" in refused(harness, tmp_path, folder)


def test_a_run_that_another_process_works_in_is_left_as_it_is_and_named(
    make: Callable[..., RunFolder], harness: Command, tmp_path: Path
) -> None:
    folder = make()
    with folder.locked():
        assert "another process works in" in refused(harness, tmp_path, folder)


def test_a_score_of_a_metric_that_cannot_be_measured_here_stays(
    make: Callable[..., RunFolder], result: Result, harness: Command, tmp_path: Path
) -> None:
    folder = make()
    old = Score("gsm8k", "meteor", "", True, 12.5, len(GOLD))
    folder.write_result(result.model_copy(update={"scores": (old,)}))
    harness(tmp_path, "rescore")
    assert [run.headline("meteor")["gsm8k"] for run in stored(tmp_path)] == [old]


@pytest.mark.parametrize("count", [3, 5])
def test_a_run_of_fewer_or_more_generations_than_rows_is_left_as_it_is_and_named(
    count: int, make: Callable[..., RunFolder], harness: Command, tmp_path: Path
) -> None:
    folder = make()
    answer(folder, *count * ["7"])
    assert f"gsm8k: {count} answers to 4 rows" in refused(harness, tmp_path, folder)


def test_a_run_of_an_older_spec_is_left_as_it_is_and_named(
    make: Callable[..., RunFolder], harness: Command, tmp_path: Path
) -> None:
    folder = make()
    older = {**folder.spec(), "protocol": {"id": "paper", "version": 1}}
    (folder.path / "spec.json").write_text(json.dumps(older))
    assert "protocol" in refused(harness, tmp_path, folder)


def test_runs_of_format_1_are_left_as_they_are_and_named(harness: Command, tmp_path: Path) -> None:
    shutil.copytree(FORMAT_1, tmp_path / "runs")
    name = "96a36244336a66e7"
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    said = refused(harness, tmp_path, RunFolder(tmp_path / "runs" / name))
    assert {path: path.read_bytes() for path in before} == before
    lines = [line for line in said.splitlines() if "format 1, which keeps no gold answers" in line]
    # The fourth run failed: it has nothing to score.
    assert len(lines) == 3
    assert f"runs/{name}: left as it is" in said
    assert "0 runs of runs rescored" in said


def test_runs_without_a_result_are_none_to_score(
    make: Callable[..., RunFolder], harness: Command, tmp_path: Path
) -> None:
    folder = make()
    (folder.path / "result.json").unlink()
    folder.note_failure("ended by SIGKILL")
    assert harness(tmp_path, "rescore").stdout.startswith("0 runs of runs rescored")


def test_a_folder_that_is_not_there_is_an_error_with_advice(
    harness: Command, tmp_path: Path
) -> None:
    done = harness(tmp_path, "rescore")
    assert done.returncode == 2
    assert "runs: no such folder." in done.stderr
    assert "--runs" in done.stderr


WITHOUT_TORCH = """
import sys
for name in ("torch", "transformers", "peft", "accelerate"):
    sys.modules[name] = None  # an import of it is an ImportError
from harness.cli import main
sys.argv = ["harness", "rescore"]
main()
"""


def test_rescoring_needs_no_torch(make: Callable[..., RunFolder], tmp_path: Path) -> None:
    folder = make()
    answer(folder, *right(2))
    command = [sys.executable, "-c", WITHOUT_TORCH]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HARNESS_")}
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": os.fspath(ROOT)},
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
