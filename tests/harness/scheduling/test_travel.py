"""What a run writes on another machine comes to be in its folder here, file by file."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.scheduling.travel import Watch, temporary_place
from results.runfolder import files

NAMES = ("events.jsonl", "result.json", "checkpoints/3/values.json")
STEPS = st.tuples(st.sampled_from(NAMES), st.booleans(), st.binary(max_size=4))


def act(folder: Path, name: str, written: bool, content: bytes) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if name.endswith(".jsonl"):
        with path.open("ab") as file:
            file.write(content)
    elif written:
        new = path.with_name(".new")
        new.write_bytes(content)
        new.replace(path)
    else:
        path.unlink(missing_ok=True)


def copied(place: Path) -> tuple[Path, Path, Watch]:
    """Make a folder and its copy, both empty, and look at the first."""
    there, here = place / "there", place / "here"
    there.mkdir()
    here.mkdir()
    return there, here, Watch(there)


def content(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@given(st.lists(st.lists(STEPS, max_size=4), max_size=5))
def test_after_each_look_the_copy_holds_what_the_folder_holds(
    tmp_path_factory: pytest.TempPathFactory, rounds: list[list[tuple[str, bool, bytes]]]
) -> None:
    there, here, watch = copied(tmp_path_factory.mktemp("travel"))
    for steps in rounds:
        for step in steps:
            act(there, *step)
        watch.changes().apply(here)
        assert content(here) == content(there)


def test_a_file_that_a_longer_one_replaces_is_copied_whole(tmp_path: Path) -> None:
    there, here, watch = copied(tmp_path)
    for text in ("old\n", "longer\n", "the longest\n"):
        files.write(there / "verdicts.jsonl", text)
        watch.changes().apply(here)
        assert (here / "verdicts.jsonl").read_text() == text


def test_folders_go_with_the_last_of_their_files(tmp_path: Path) -> None:
    there, here, watch = copied(tmp_path)
    files.write(there / "log.txt", "begun")
    for step in (1, 2):
        files.write(there / "checkpoints" / f"{step}" / "values.json", "{}")
    watch.changes().apply(here)
    shutil.rmtree(there / "checkpoints" / "1")
    watch.changes().apply(here)
    assert [path.name for path in (here / "checkpoints").iterdir()] == ["2"]
    shutil.rmtree(there / "checkpoints")
    watch.changes().apply(here)
    assert [path.name for path in here.iterdir()] == ["log.txt"]


def test_what_was_removed_from_the_copy_stays_removed_and_the_rest_is_copied(
    tmp_path: Path,
) -> None:
    there, here, watch = copied(tmp_path)
    act(there, "events.jsonl", True, b"first")
    watch.changes().apply(here)
    (here / "events.jsonl").unlink()
    act(there, "events.jsonl", True, b"second")
    act(there, "result.json", True, b"{}")
    watch.changes().apply(here)
    assert content(here) == {"result.json": b"{}"}


def test_the_lock_and_what_is_being_written_stay_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "checkpoints" / "new.partial").mkdir(parents=True)
    for name in ("lock", ".result.json.1.partial", "checkpoints/new.partial/values.json"):
        (tmp_path / name).touch()
    assert not Watch(tmp_path).changes().written


def test_a_file_that_is_removed_while_it_is_looked_at_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "log").touch()
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "values.json").touch()
    true = Path.stat

    def removed(path: Path) -> os.stat_result:
        shutil.rmtree(tmp_path / "old", ignore_errors=True)
        return true(path)

    monkeypatch.setattr(Path, "stat", removed)
    assert {*Watch(tmp_path).changes().written} == {"log"}


KILLED = """
import os, signal
from harness.scheduling.travel import temporary_place
with temporary_place() as made:
    (made / "run").mkdir()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_place_that_a_killed_process_left_goes_with_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with temporary_place() as kept:
        subprocess.run(
            [sys.executable, "-c", KILLED], env={**os.environ, "TMPDIR": str(tmp_path)}, check=False
        )
        assert len([*tmp_path.iterdir()]) == 2
        with temporary_place() as made:
            assert {*tmp_path.iterdir()} == {kept, made}
    assert not [*tmp_path.iterdir()]
