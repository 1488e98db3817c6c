"""The commands on PostgreSQL: they say what they say of a SQLite file."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from results.record import Run
from results.runfolder.record_of import folders
from results.store import Reader, Store

Command = Callable[..., Any]
Make = Callable[..., Run]

pytestmark = pytest.mark.parts

FORMAT_1 = Path(__file__).parents[1] / "runfolder" / "format_1"


@pytest.fixture
def url(server: Callable[[], str]) -> str:
    return server()


@pytest.mark.parametrize(
    "words",
    [
        ("table", "--tasks", "math", "--format", "json"),
        ("table", "--tasks", "math", "--costs"),
        ("history", "--costs"),
        ("compare", "dypam", "lora"),
        ("show", "{run}", "--all"),
    ],
)
def test_a_server_and_a_file_give_the_same_answer(
    harness: Command, url: str, tmp_path: Path, make: Make, words: tuple[str, ...]
) -> None:
    runs = [
        make(method, seed, {"gsm8k": right + seed}, minute=seed)
        for method, right in (("lora", 50), ("dypam", 60))
        for seed in (1, 2, 3)
    ]
    for place in (url, str(tmp_path / "harness.db")):
        store = Store(place)
        for run in runs:
            store.add(run)
    command = [word.format(run=runs[0].run_id) for word in words]
    of_file, of_server = harness(tmp_path, *command), harness(tmp_path, *command, "--store", url)
    assert of_server.returncode == 0, of_server.stderr
    assert of_server.stdout == of_file.stdout
    assert "lora" in of_server.stdout


def test_a_server_is_rebuilt_from_run_folders(harness: Command, url: str, tmp_path: Path) -> None:
    for _ in range(2):
        done = harness(tmp_path, "reindex", "--runs", str(FORMAT_1), "--store", url)
        assert done.returncode == 0, done.stderr
    harness(tmp_path, "reindex", "--runs", str(FORMAT_1))
    assert Reader(url).runs() == Reader(tmp_path / "harness.db").runs()
    assert len(Reader(url).runs()) == 4


def test_a_run_is_stored_on_a_server_and_not_run_again(
    harness: Command, url: str, tmp_path: Path
) -> None:
    command = ("run", "--methods", "base", "--tasks", "gsm8k", "--limit", "2", "--store", url)
    first, second = harness(tmp_path, *command), harness(tmp_path, *command)
    assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
    (run,) = Reader(url).runs()
    assert (run.method, run.status) == ("base", "finished")
    assert "1 was stored before and not run again." in second.stdout
    elsewhere = harness(tmp_path, "status", "--runs", "elsewhere", "--store", url)
    assert "1 of 1 run done." in elsewhere.stdout
    assert f"{tmp_path / 'runs'}: as its command left it" in elsewhere.stdout


def test_a_server_that_is_not_there_is_told_in_a_message(harness: Command, tmp_path: Path) -> None:
    done = harness(tmp_path, "history", "--store", f"postgresql+psycopg://me@/x?host={tmp_path}")
    assert done.returncode == 2
    assert done.stderr.startswith("error: The store postgresql+psycopg://me@/x")
    assert "connection to server" in done.stderr


def test_a_run_that_a_server_takes_not_is_named_and_the_others_are_taken(
    harness: Command, url: str, tmp_path: Path
) -> None:
    shutil.copytree(FORMAT_1, tmp_path / "runs")
    first, *_ = folders(tmp_path / "runs")
    job = json.loads((first.path / "job.json").read_text())
    (first.path / "job.json").write_text(json.dumps({**job, "backbone_place": "a\0b"}))
    done = harness(tmp_path, "reindex", "--store", url)
    assert done.returncode == 1, done.stderr
    assert f"{first.path}: left out: The store " in done.stdout
    assert {run.run_id for run in Reader(url).runs()} == {
        folder.path.name for folder in folders(tmp_path / "runs") if folder.path != first.path
    }
