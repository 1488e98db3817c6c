"""The main job as a user runs it: command line, real worker processes, `tiny`, samples."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest

from harness import plugins
from results.runfolder import wishes
from results.runfolder.folder import RunFolder
from results.store import Reader

Command = Callable[..., Any]

GRID = ["run", "--methods", "dypam,lora", "--tasks", "math", "--seeds", "7,8"]
GRID += ["--limit", "3", "--train-limit", "40", "--set", "train.epochs=1"]
ONE = [{"dypam,lora": "lora", "7,8": "7,"}.get(word, word) for word in GRID]
"""One run of the four."""
BENCHMARKS = plugins.group("math").benchmarks


@pytest.fixture(scope="module")
def place(program: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the grid once."""
    folder = tmp_path_factory.mktemp("main")
    done = program(folder, *GRID)
    assert done.returncode == 0, done.stderr
    (folder / "printed.txt").write_text(done.stdout)
    return folder


def folders(place: Path) -> list[Path]:
    return sorted(path.parent for path in place.glob("runs/*/result.json"))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_it_prints_a_table_of_both_methods_that_says_what_the_data_are(place: Path) -> None:
    printed = (place / "printed.txt").read_text()
    for words in ("dypam", "lora", *BENCHMARKS, "micro", "macro", "4 runs finished"):
        assert words in printed
    for mark in ("SAMPLE DATA", "first 3 rows of each benchmark", "first 40 training rows"):
        assert mark in printed


def test_every_run_folder_is_whole_by_itself(place: Path) -> None:
    assert len(folders(place)) == 4
    for folder in folders(place):
        assert (folder / "adapter" / "adapter_model.safetensors").exists()
        environment = json.loads((folder / "environment.json").read_text())
        assert {"packages", "python", "torch", "device", "harness"} <= environment.keys()
        for name in BENCHMARKS:
            generations = RunFolder(folder).generations(name)
            verdicts = lines(folder / "verdicts" / f"{name}.jsonl")
            assert [one.id for one in generations] == [0, 1, 2]
            assert [one["id"] for one in verdicts] == [0, 1, 2]
            assert all(one.prompt.endswith("### Response:\n") for one in generations)
            assert all(one.answer and one.tokens and one.text for one in generations)
            assert all(one["extracted"].keys() == one["correct"].keys() for one in verdicts)


def test_a_result_holds_what_a_reader_asks_for(place: Path) -> None:
    for folder in folders(place):
        result = json.loads((folder / "result.json").read_text())
        seconds = result["seconds"]
        phases = {"load", "adapt", "train", "validate", "save", "generate", "score"}
        assert phases <= seconds.keys()
        assert sum(seconds[phase] for phase in phases) <= seconds["wall"]
        assert 0 < result["trainable_parameters"] < result["total_parameters"]
        assert result["adapter_bytes"] >= 4 * result["trainable_parameters"]
        training = RunFolder(folder).train_record()
        assert training
        assert training.rows == 40
        assert training.steps == 36 // 4  # 40 rows less a tenth, by 4
        assert (training.trained_rows, training.validated_rows) == (36, 4)
        headline = {one["benchmark"]: one for one in result["scores"] if one["headline"]}
        assert list(headline) == list(BENCHMARKS)
        for name, one in headline.items():
            verdicts = lines(folder / "verdicts" / f"{name}.jsonl")
            right = sum(verdict["correct"]["llm-adapters"] for verdict in verdicts)
            assert (one["metric"], one["value"], one["n"]) == ("accuracy", right / 3, 3)


def test_how_many_rows_chose_the_adapter_is_shown(harness: Command, place: Path) -> None:
    folder = folders(place)[0]
    card = (folder / "adapter" / "README.md").read_text()
    for text in (card, harness(place, "show", str(folder), "--all").stdout):
        assert "    trained_rows = 36\n    validated_rows = 4\n" in text
    screen = harness(place, "show", str(folder)).stdout
    assert "nats per token of 4 validation rows, the lowest reached; trained on 36 rows\n" in screen


def test_the_same_command_again_runs_nothing_and_says_so(harness: Command, place: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*") if path.is_file()}
    again = harness(place, *GRID)
    assert again.returncode == 0
    assert "0 runs finished" in again.stdout
    assert "4 were stored before and not run again" in again.stdout
    changed = {path.name for path, when in before.items() if path.stat().st_mtime_ns != when}
    assert not {name for name in changed if not name.startswith("harness.db")}


def test_a_grid_that_is_all_stored_says_so_without_torch_and_without_a_worker(
    place: Path, children: Callable[[int], list[int]]
) -> None:
    own = {name: value for name, value in os.environ.items() if not name.startswith("HARNESS_")}
    environment = {**own, "PYTHONPROFILEIMPORTTIME": "1"}
    command = [sys.executable, "-m", "harness", *GRID]
    with TemporaryFile("w+") as told:
        running, seen = subprocess.Popen(command, cwd=place, env=environment, stderr=told), set()
        while running.poll() is None:
            seen |= {*children(running.pid)}
        told.seek(0)
        imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in told}
    assert (running.returncode, seen) == (0, set())
    assert "harness" in imported
    assert not imported & {"torch", "transformers", "peft", "accelerate"}


def test_a_dry_run_lists_the_runs_seed_by_seed_and_writes_nothing(
    harness: Command, tmp_path: Path
) -> None:
    listed = harness(tmp_path, *GRID, "--dry-run").stdout.splitlines()
    assert [line.split("  ")[1] for line in listed[:4]] == [
        f"{method} on tiny, math, seed {seed}" for seed in (7, 8) for method in ("dypam", "lora")
    ]
    assert listed[4:7] == [
        "4 runs, 4 to do.",
        "  4 new",
        "  no finished run on these backbones and groups says how long they take",
    ]
    assert not list(tmp_path.iterdir())


def test_a_dry_run_says_how_far_runs_are_and_what_those_to_do_take(
    harness: Command, place: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(place, tmp_path / "copy")
    runs = {one.head().method: one for one in map(RunFolder, folders(copy))}
    failed, held = runs["lora"], runs["dypam"]
    for folder in (failed, held):
        (folder.path / "result.json").unlink()
    failed.note_failure("ValueError: no such layer")
    (copy / "harness.db").unlink()
    assert harness(copy, "reindex").returncode == 0
    with held.locked():
        listed = harness(copy, *GRID, "--dry-run").stdout.splitlines()
    ends = {line.split()[0]: line.rpartition("  ")[2] for line in listed[:4]}
    assert ends[failed.path.name] == "(failed before)"
    assert ends[held.path.name] == "(running)"
    assert listed[4:7] == [
        "4 runs, 0 to do.",
        "  2 stored, 1 failed before, 1 running",
        "  `harness retry RUN` runs again what failed before",
    ]
    failed.note_failure("the worker vanished", kind="vanished")
    wishes.cancel(held)
    listed = harness(copy, *GRID, "--dry-run").stdout.splitlines()
    ends = {line.split()[0]: line.rpartition("  ")[2] for line in listed[:4]}
    assert ends[failed.path.name] == "(failed)"
    assert ends[held.path.name] == "(cancelled)"
    assert listed[4:6] == ["4 runs, 2 to do.", "  2 stored, 1 failed, 1 cancelled"]
    assert re.fullmatch(
        r"  \d+ s of a slot \(2 as runs like them took; measured on CPU .*\)", listed[6]
    )
    wishes.forget(failed, "the wrong data")
    listed = harness(copy, *GRID, "--dry-run").stdout.splitlines()
    assert listed[4:6] == ["4 runs, 1 to do.", "  2 stored, 1 forgotten, 1 cancelled"]


@pytest.mark.parametrize("name", ["latex", "html", "markdown", "csv", "json"])
def test_tables_answer_from_the_store_in_every_format(
    name: str, harness: Command, place: Path
) -> None:
    table = harness(place, "table", "--tasks", "math", "--format", name)
    assert table.returncode == 0
    titled = ("DyPAM", "LoRA", "GSM8K") if name in ("latex", "html") else ("dypam", "lora", "gsm8k")
    for words in (*titled, "SAMPLE DATA"):
        assert words in table.stdout


def test_history_show_and_compare_answer_from_the_store(harness: Command, place: Path) -> None:
    history = json.loads(harness(place, "history", "--json").stdout)
    assert [entry["seed"] for entry in history].count(7) == 2
    newest = history[0]["run_id"]
    shown = json.loads(harness(place, "show", newest[:6], "--json").stdout)
    assert shown["run_id"] == newest
    assert shown["spec"]["train"]["lr"] == 1e-3
    compared = json.loads(harness(place, "compare", "dypam", "lora", "--json").stdout)
    assert [one["column"] for one in compared[0]["contrasts"]] == [*BENCHMARKS, "micro", "macro"]


def test_a_spec_gives_the_same_generations_and_scores_in_another_store(
    harness: Command, place: Path, tmp_path: Path
) -> None:
    assert harness(tmp_path, *ONE).returncode == 0
    assert len(folders(tmp_path)) == 1
    for folder in folders(tmp_path):
        twin = place / "runs" / folder.name
        for name in BENCHMARKS:
            file = f"generations/{name}.jsonl.gz"
            assert (folder / file).read_bytes() == (twin / file).read_bytes()
        scores = [json.loads((f / "result.json").read_text())["scores"] for f in (folder, twin)]
        assert scores[0] == scores[1]


def test_the_store_is_rebuilt_from_the_run_folders(harness: Command, place: Path) -> None:
    rebuilt = harness(place, "reindex", "--store", "rebuilt.db")
    assert rebuilt.stdout == "4 runs of runs indexed in rebuilt.db.\n"
    histories = [
        harness(place, "history", "--store", s).stdout for s in ("harness.db", "rebuilt.db")
    ]
    assert histories[0] == histories[1]
    readers = [Reader(place / s) for s in ("harness.db", "rebuilt.db")]
    verdicts = [reader.verdicts(reader.runs(status="finished")) for reader in readers]
    assert verdicts[0] == verdicts[1]
    assert verdicts[0]


def test_a_run_that_was_ended_goes_on_with_the_stages_that_are_left(
    harness: Command, place: Path, tmp_path: Path
) -> None:
    shutil.copytree(place / "runs", tmp_path / "runs")
    folder = folders(tmp_path)[0]
    finished = json.loads((folder / "result.json").read_text())
    for file in ("result.json", "generations/svamp.jsonl.gz"):
        (folder / file).unlink()
    kept = [folder / "training.json", folder / "generations" / "gsm8k.jsonl.gz"]
    before = [path.stat().st_mtime_ns for path in kept]
    done = harness(tmp_path, *GRID)
    assert "1 run finished" in done.stdout
    assert "3 were stored before" in done.stdout
    assert [path.stat().st_mtime_ns for path in kept] == before
    result = json.loads((folder / "result.json").read_text())
    assert result["resumed"]
    assert result["scores"] == finished["scores"]


BREAKS = """'LoRA that breaks where its training begins.'
from dataclasses import replace
from methods.lora import method as lora
def hooks(model, ahead):
    raise RuntimeError("no such layer")
method = replace(lora, hooks=hooks)
"""


def test_a_failed_run_says_why_is_stored_and_does_not_end_the_others(
    harness: Command, place: Path, tmp_path: Path
) -> None:
    shutil.copytree(place / "runs", tmp_path / "runs")
    (tmp_path / "breaks.py").write_text(BREAKS)
    done = harness(tmp_path, *[{"dypam,lora": "breaks.py,lora"}.get(word, word) for word in GRID])
    assert done.returncode == 1
    broken, *_ = re.findall(r"(\w+) failed: `harness show \1` says why\.", done.stdout)
    shown = harness(tmp_path, "show", broken).stdout
    assert shown.splitlines()[1] == "failed: RuntimeError: no such layer"
    assert "End of the log:" in shown
    in_full = harness(tmp_path, "show", broken, "--all").stdout
    assert "status = failed" in in_full
    assert "Traceback (most recent call last)" in in_full
    statuses = [run["status"] for run in json.loads(harness(tmp_path, "history", "--json").stdout)]
    assert sorted(statuses) == ["failed", "failed", "finished", "finished"]


@pytest.mark.parts
def test_a_training_set_with_no_row_that_fits_is_a_failure_with_a_reason(
    harness: Command, tmp_path: Path
) -> None:
    done = harness(tmp_path, *ONE, "--set", "protocol.max_length=16")
    assert done.returncode == 1
    assert done.stderr.count("no training rows have an answer within 16 tokens") == 1


def weights(folder: Path) -> bytes:
    return (folder / "adapter" / "adapter_model.safetensors").read_bytes()


@pytest.mark.parts
def test_gradient_checkpointing_changes_no_digit_and_is_recorded_with_the_environment(
    harness: Command, place: Path, tmp_path: Path
) -> None:
    done = harness(tmp_path, *ONE, "--set", "memory.gradient_checkpointing=true")
    assert done.returncode == 0, done.stderr
    (frugal,) = folders(tmp_path)
    twin = place / "runs" / frugal.name
    assert weights(frugal) == weights(twin)
    environments = [RunFolder(folder).environment() for folder in (frugal, twin)]
    memories = [environment.memory for environment in environments if environment]
    assert memories == [{"gradient_checkpointing": True}, {}]
    assert len({environment.identity for environment in environments if environment}) == 1


OWN = ["run", "--methods", "base,lora[r=2],lora[r=2,train.lr=2e-4]", "--tasks", "gsm8k"]
OWN += ["--seeds", "7,8", "--limit", "3", "--train-limit", "40", "--set", "train.epochs=1"]
OWN += ["--set", "protocol.max_new_tokens=8"]


@pytest.fixture(scope="module")
def own(program: Command, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the base model and one method by two recipes."""
    folder = tmp_path_factory.mktemp("own")
    done = program(folder, *OWN)
    assert done.returncode == 0, done.stderr
    (folder / "printed.txt").write_text(done.stdout)
    return folder


def test_methods_by_recipes_of_their_own_stand_in_one_table_that_says_so(own: Path) -> None:
    printed = (own / "printed.txt").read_text()
    assert "each method with its own recipe" in printed
    for label in ("| base ", "| lora[r=2,train.lr=0.001] ", "| lora[r=2,train.lr=0.0002] "):
        assert label in printed
    assert "5 runs finished" in printed


def test_without_being_asked_a_table_holds_one_recipe(harness: Command, own: Path) -> None:
    tables = json.loads(harness(own, "table", "--json").stdout)
    rows = [[row["label"] for block in one["blocks"] for row in block["rows"]] for one in tables]
    assert rows == [["base", "lora[r=2]"], ["base", "lora[r=2]"]]
    both = json.loads(harness(own, "table", "--own-recipes", "--json").stdout)
    assert len(both) == 1


def test_the_base_model_is_evaluated_and_nothing_of_it_is_trained(own: Path) -> None:
    (base,) = [f for f in folders(own) if RunFolder(f).head().method == "base"]
    result = RunFolder(base).result()
    assert result
    assert (result.trainable_parameters, result.adapter_bytes) == (0, 0)
    assert "train" not in result.seconds
    assert not (base / "adapter").exists()
    assert {score.metric for score in result.scores} >= {"accuracy"}


def test_how_a_recipe_was_chosen_is_kept_with_the_run(harness: Command, own: Path) -> None:
    chosen = {RunFolder(f).spec()["train"]["lr"]: RunFolder(f).head() for f in folders(own)}
    provenance = dict(chosen[2e-4].provenance)
    command = provenance.pop("command")
    assert provenance.pop("titles") == {}  # nothing was given by path
    assert provenance == {"chosen": "for this method", "own": {"lr": 2e-4}, "tries": 1}
    assert command[:4] == ["harness", "run", "--methods", OWN[2]]
    shown = harness(own, "show", chosen[2e-4].run_id, "--all").stdout
    assert "for this method" in shown


def test_the_kept_command_asks_for_the_same_runs(harness: Command, own: Path) -> None:
    heads = [RunFolder(folder).head() for folder in folders(own)]
    ((program, *words),) = {tuple(head.provenance["command"]) for head in heads}
    assert program == "harness"
    listed = harness(own, *words, "--dry-run").stdout
    assert "5 runs, 0 to do." in listed
    assert {head.run_id for head in heads} <= set(listed.split())
