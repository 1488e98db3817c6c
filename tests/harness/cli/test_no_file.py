"""What stands in the place of a file, and names that no file can have: one message, at once."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.backbones import TINY
from results.runfolder.record_of import folders

Command = Callable[..., Any]

FORMAT_1 = Path(__file__).parents[2] / "results" / "runfolder" / "format_1"

KINDS = ("folder", "FIFO", "socket", "link to nothing")
LONG = "n" * 256
GRID = ("run", "--tasks", "math", "--methods")

pytestmark = pytest.mark.usefixtures("at_once")


def refused(harness: Command, folder: Path, *arguments: str) -> str:
    done = harness(folder, *arguments)
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.startswith(("error: ", "Usage: "))
    return str(done.stderr)


@pytest.mark.parametrize("what", KINDS)
@pytest.mark.parametrize(
    "command",
    [
        *(["history"], ["table"], ["show", "1"], ["items", "1"], ["compare", "a", "b"]),
        *(["merge", "store.db", "--store", "other.db"], ["seeds", "plan", "--delta", "1"]),
        ["export", "1", "--out", "runs.zip"],
    ],
)
def test_in_the_place_of_the_store(
    what: str, command: list[str], harness: Command, tmp_path: Path, hostile: Any
) -> None:
    hostile(what, tmp_path / "store.db")
    named = [] if "--store" in command else ["--store", "store.db"]
    assert "store.db" in refused(harness, tmp_path, *command, *named)


@pytest.mark.parametrize("what", KINDS[:3])
def test_in_the_place_of_the_store_of_a_run_before_it_runs(
    what: str, harness: Command, tmp_path: Path, hostile: Any
) -> None:
    hostile(what, tmp_path / "harness.db")
    message = refused(harness, tmp_path, *GRID, "base", "--limit", "2")
    assert f"it must be a file, not a {what}." in message
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("place", [":memory:", "sqlite://", "sqlite:///:memory:"])
@pytest.mark.parametrize("command", [["history"], ["reindex", "--runs", str(FORMAT_1)]])
def test_a_store_in_memory_is_refused(
    place: str, command: list[str], harness: Command, tmp_path: Path
) -> None:
    message = refused(harness, tmp_path, *command, "--store", place)
    assert "A store in memory keeps nothing." in message


@pytest.mark.parametrize(
    "command",
    [
        *(["reindex"], ["rescore"], ["import", "runs.zip"]),
        [*GRID, "base", "--limit", "2"],
        ["leaderboard", "serve"],
    ],
)
def test_a_file_in_the_place_of_the_run_folders(
    command: list[str], harness: Command, tmp_path: Path
) -> None:
    (tmp_path / "runs").touch()
    message = refused(harness, tmp_path, *command, "--runs", "runs")
    assert "is a file" in message


@pytest.mark.parametrize("what", KINDS)
@pytest.mark.parametrize(
    "command",
    [
        [*GRID, "./own.py"],
        ["doctor", "./own.py"],
        [*GRID, "base", "--tasks", "./own.py"],
        [*GRID, "base", "--train-data", "own.py"],
        ["new", "benchmark", "mine", "--from", "own.py"],
        ["audit", "own.py"],
        ["import", "own.py"],
        ["show", "./own.py"],
    ],
)
def test_in_the_place_of_a_file_that_is_named(
    what: str, command: list[str], harness: Command, tmp_path: Path, hostile: Any
) -> None:
    hostile(what, tmp_path / "own.py")
    assert "own.py" in refused(harness, tmp_path, *command)


@pytest.mark.parametrize("what", KINDS)
def test_in_the_place_of_a_grid_file(
    what: str, harness: Command, tmp_path: Path, hostile: Any
) -> None:
    hostile(what, tmp_path / "grid.toml")
    assert f"grid.toml: a {what}, not a file." in refused(harness, tmp_path, "run", "grid.toml")


@pytest.mark.parametrize("what", KINDS)
@pytest.mark.parametrize("part", ["config.json", "tokenizer.json", "model.safetensors"])
def test_in_the_place_of_a_file_of_a_backbone(
    what: str, part: str, harness: Command, tmp_path: Path, hostile: Any
) -> None:
    shutil.copytree(TINY, tmp_path / "mine")
    hostile(what, tmp_path / "mine" / part)
    refused(harness, tmp_path, *GRID, "lora", "--backbones", "./mine", "--dry-run")


@pytest.mark.parametrize("what", KINDS)
@pytest.mark.parametrize("part", ["result.json", "spec.json", "generations/boolq.jsonl"])
@pytest.mark.parametrize("command", [["show"], ["items"], ["card"]])
def test_in_the_place_of_a_file_of_a_run(
    what: str, part: str, command: list[str], harness: Command, tmp_path: Path, hostile: Any
) -> None:
    source = next(one for one in folders(FORMAT_1) if (one.path / part).exists())
    shutil.copytree(source.path, tmp_path / "run")
    hostile(what, tmp_path / "run" / part)
    done = harness(tmp_path, *command, str(tmp_path / "run"))
    reads_it = part != "generations/boolq.jsonl" or command == ["items"]
    assert done.returncode == (2 if reads_it else done.returncode)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        *(["history", "--store", LONG], ["show", LONG], ["items", f"./{LONG}"], ["audit", LONG]),
        *([*GRID, f"{LONG}.py"], [*GRID, "base", "--train-data", LONG], ["import", LONG]),
        *(["reindex", "--runs", LONG], ["reindex", "--runs", str(FORMAT_1), "--store", LONG]),
        [*GRID, "base", "--backbones", f"./{LONG}"],
        ["export", str(FORMAT_1 / "02e7ce5e9a9582c9"), "--out", LONG],
    ],
)
def test_a_name_that_no_file_can_have(command: list[str], harness: Command, tmp_path: Path) -> None:
    refused(harness, tmp_path, *command)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("pattern", ["*(", "(", "[a"])
def test_a_regular_expression_that_does_not_compile(
    pattern: str, harness: Command, tmp_path: Path
) -> None:
    message = refused(harness, tmp_path, *GRID, f'lora[target_modules="{pattern}"]', "--dry-run")
    assert f"{pattern!r} does not compile" in message
