"""Mistakes of the user: one message, exit code 2, nothing written."""

import gzip
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.backbones import TINY
from harness.spec.planned import PlannedRun
from results.runfolder.folder import RunFolder
from results.runfolder.record_of import record_of
from results.store import Store

Command = Callable[..., Any]


def refused(harness: Command, folder: Path, *arguments: str) -> str:
    before = sorted(folder.rglob("*"))
    done = harness(folder, *arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(folder.rglob("*")) == before, "something was written"
    message: str = done.stderr
    return message


def test_all_faults_of_a_request_come_in_one_message(harness: Command, tmp_path: Path) -> None:
    message = refused(
        harness,
        tmp_path,
        *("run", "--methods", "lorra,dypam[alfa=1],lora[r=x]", "--tasks", "gsm9k"),
        *("--backbones", "nowhere", "--seeds", "99", "--set", "train.lrr=1"),
        *("--train-limit", "12"),
    )
    for words in (
        "'lorra' is not a known method. Did you mean 'lora'?",
        "'alfa' is not a known field of dypam. Did you mean 'alpha'?",
        "field r: Input should be a valid integer",
        "'gsm9k' is not a known task. Did you mean 'gsm8k'?",
        "'nowhere' is not a backbone",
        "--seeds 99",
        "'train.lrr' is not a known setting. Did you mean 'train.lr'?",
        "--train-limit 12: a tenth of the training rows is held out to choose the adapter",
    ):
        assert words in message


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ("model.safetensors", "*.safetensors"),
        ("tokenizer.json", "a tokenizer"),
        ("config.json", "config.json"),
    ],
)
def test_a_backbone_folder_that_lacks_a_part_is_refused_with_the_part(
    missing: str, words: str, harness: Command, tmp_path: Path
) -> None:
    shutil.copytree(TINY, tmp_path / "mine")
    (tmp_path / "mine" / missing).unlink()
    grid = ("run", "--methods", "lora", "--tasks", "math", "--backbones", "mine")
    assert words in refused(harness, tmp_path, *grid)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[{", "not JSON at line 1"),
        (
            b'[{"instruction": "a", "answer": "1"}, {"instruction": "b"}]',
            "row 2: no field 'answer'",
        ),
        (b'[{"instruction": 3, "answer": "1"}]', "row 1: field 'instruction' holds int"),
        (b'[{"instruction": "a", "answer": "1"}]', "1 rows"),
    ],
)
def test_a_bad_data_file_is_told_with_file_and_row(
    content: bytes, words: str, harness: Command, tmp_path: Path
) -> None:
    file = tmp_path / "data" / "qa" / "gsm8k" / "test.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    rows = [{"instruction": "a", "output": "1"}] * 9919
    (tmp_path / "data" / "math_10k.json").write_text(json.dumps(rows))
    grid = ("run", "--methods", "lora", "--tasks", "gsm8k", "--data", "data")
    message = refused(harness, tmp_path, *grid)
    assert words in message
    assert str(Path("qa", "gsm8k", "test.json")) in message


def test_a_dry_run_finds_the_faults_of_a_run_with_the_executor_among_them(
    harness: Command, tmp_path: Path
) -> None:
    grid = ("run", "--methods", "lroa", "--tasks", "gms8k,mth", "--executor", "locl")
    messages = [refused(harness, tmp_path, *grid, *more) for more in ((), ("--dry-run",))]
    assert messages[0] == messages[1]
    for meant in ("lora", "gsm8k", "math", "local"):
        assert f"Did you mean {meant!r}?" in messages[0]


def test_a_truncated_gzip_file_is_told(harness: Command, tmp_path: Path) -> None:
    file = tmp_path / "math_10k.json.gz"
    file.write_bytes(gzip.compress(b"[" + b'{"instruction": "a"},' * 999)[:40])
    grid = ("run", "--methods", "lora", "--tasks", "gsm8k", "--data", ".")
    assert "damaged or cut short" in refused(harness, tmp_path, *grid)


def test_a_missing_data_file_is_told_with_the_places_it_may_be(
    harness: Command, tmp_path: Path
) -> None:
    message = refused(
        harness, tmp_path, "run", "--methods", "lora", "--tasks", "svamp", "--data", "."
    )
    for words in ("Math10K", "ft-training_set/math_10k.json", "LLM-Adapters"):
        assert words in message


def newer(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE harness_schema (version_num VARCHAR(32))")
        connection.execute("INSERT INTO harness_schema VALUES ('from_the_future')")
    connection.close()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: path.write_text("no database at all" * 100), "is not a database"),
        (lambda path: path.mkdir(), "must be a file, not a folder"),
        (newer, "written by a newer version"),
    ],
    ids=["not a database", "a folder", "newer"],
)
@pytest.mark.parametrize("command", ["history", "run --methods lora --tasks math"])
def test_a_store_that_cannot_be_used_is_refused(
    make: Callable[[Path], None], words: str, command: str, harness: Command, tmp_path: Path
) -> None:
    make(tmp_path / "store.db")
    message = refused(harness, tmp_path, *command.split(), "--store", "store.db")
    assert words in message
    assert "store.db" in message


def test_reading_commands_need_a_store_and_make_none(harness: Command, tmp_path: Path) -> None:
    for command in ("history", "table", "show 1234", "compare dypam lora"):
        assert "`harness run` makes one" in refused(harness, tmp_path, *command.split())


@pytest.fixture
def stored(tmp_path: Path, planned: Callable[..., PlannedRun]) -> Path:
    """Give a folder with a store of one run of `lora` on `tiny` that failed."""
    one = planned()
    folder = RunFolder(tmp_path / "runs" / one.spec.run_id)
    folder.create(*one.kept)
    folder.note_failure("ValueError: no such layer")
    store = Store(tmp_path / "harness.db")
    found = record_of(folder)
    assert found is not None
    store.add(found)
    return tmp_path


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("table --tasks gsm9k", "Did you mean 'gsm8k'?"),
        ("history --tasks gsm9k", "Did you mean 'gsm8k'?"),
        ("compare lora dypam --tasks mat", "Did you mean 'math'?"),
        ("history --method lroa", "Did you mean 'lora'?"),
        ("history --method lora[r=64]", "'lora[r=64]' is not a known method with stored runs"),
        ("history --backbone tinny", "Did you mean 'tiny'?"),
        ("table --choose validaton", "Did you mean 'validation'?"),
        ("table --extractors --choose validation", "cannot be combined with --clean"),
        ("table --extractors --format latex", "--extractors supports markdown and json"),
        ("items runs/nowhere", "runs/nowhere is not a run folder"),
        ("show gg", "No run in harness.db starts with 'gg'"),
    ],
)
def test_a_name_that_no_run_has_is_refused_with_the_nearest(
    command: str, words: str, harness: Command, stored: Path
) -> None:
    assert words in refused(harness, stored, *command.split())


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("history --limit 100000000000000000000", "Invalid value for '--limit'"),
        ("history --where method=\udcff", "no text in UTF-8"),
        ("note {run} a\udcffb", "no text in UTF-8"),
        ("forget {run} --reason \udcff", "no text in UTF-8"),
    ],
)
def test_what_no_store_can_be_asked_or_told_is_refused(
    command: str, words: str, harness: Command, stored: Path
) -> None:
    (run,) = (path.name for path in (stored / "runs").iterdir())
    done = harness(stored, *command.format(run=run).split())
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        "table --margin 0",
        "table --margin nan",
        "compare lora dypam --margin -1",
        "seeds plan --delta 0",
        "seeds plan --delta inf",
    ],
)
def test_a_difference_that_is_not_above_0_is_refused(
    command: str, harness: Command, stored: Path
) -> None:
    assert "a difference above 0, in points" in refused(harness, stored, *command.split())


def test_one_backbone_named_twice_is_refused(harness: Command, stored: Path) -> None:
    message = refused(harness, stored, "compare", "lora", "--backbones", "tiny,tiny")
    assert "does not name two backbones" in message


@pytest.mark.parametrize(
    "command", ["history --tasks my/math.py", "history --method my/lora.py", "history --tasks math"]
)
def test_a_reading_command_takes_the_path_that_run_takes_for_its_name(
    command: str, harness: Command, stored: Path
) -> None:
    done = harness(stored, *command.split())
    assert done.returncode == 0, done.stderr
    assert "| lora " in done.stdout


@pytest.mark.parametrize(
    "command",
    ["run --methods lora --tasks legs", "run --methods legs --tasks math", "doctor leg"],
)
def test_a_file_of_the_name_in_the_current_folder_is_suggested(
    command: str, harness: Command, tmp_path: Path
) -> None:
    (tmp_path / "legs.py").write_text("")
    assert "Did you mean 'legs.py'?" in refused(harness, tmp_path, *command.split())
