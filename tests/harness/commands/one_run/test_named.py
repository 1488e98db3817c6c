"""A run is named by the first digits of its id or by its folder, wherever that lies now."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.commands.one_run import named
from harness.commands.one_run.show import show
from harness.errors import UserError
from harness.spec.planned import PlannedRun
from results.errors import ResultsError
from results.runfolder.folder import RunFolder
from results.runfolder.record_of import record_of
from results.store import Store


@pytest.fixture
def folder(tmp_path: Path, planned: Callable[..., PlannedRun]) -> RunFolder:
    """Give the folder of a run that failed and is stored."""
    one = planned()
    folder = RunFolder(tmp_path / one.spec.run_id)
    folder.create(*one.kept)
    folder.note_failure("ended")
    found = record_of(folder)
    assert found
    Store(tmp_path / "harness.db").add(found)
    return folder


@pytest.fixture
def store(tmp_path: Path) -> str:
    return str(tmp_path / "harness.db")


def test_the_first_digits_of_an_id_find_run_and_folder(folder: RunFolder, store: str) -> None:
    digits = folder.path.name[:5]
    assert named.folder(store, digits).path == folder.path
    assert named.record(store, digits).run_id == folder.path.name


def test_a_folder_that_was_moved_is_found_by_its_path(
    folder: RunFolder, store: str, tmp_path: Path
) -> None:
    run_id = folder.path.name
    moved = folder.path.rename(tmp_path / "moved")
    assert named.folder("none.db", str(moved)).path == moved
    assert named.record("none.db", str(moved)).folder == str(moved)
    assert named.record(store, run_id).run_id == run_id
    with pytest.raises(UserError, match="name the folder instead of the id"):
        named.folder(store, run_id)


def test_a_screen_needs_no_store_where_the_folder_is_named(folder: RunFolder) -> None:
    assert "failed: ended" in show("none.db", str(folder.path)).text


def test_what_is_no_run_is_refused_with_what_to_do(
    folder: RunFolder, store: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=r"There is no store(.|\n)*name the run folder, not an id"):
        named.record(str(tmp_path / "none.db"), "1234")
    with pytest.raises(UserError, match="is not a run folder: there is no spec"):
        named.folder(store, str(tmp_path))
    with pytest.raises(ResultsError, match=r"No run in .* starts with 'zz'"):
        named.folder(store, "zz")
    folder.drop_failure()
    with pytest.raises(UserError, match="it is running, or was stopped"):
        named.record(store, str(folder.path))


def test_a_path_is_no_digits_of_an_id_below_the_run_folders(folder: RunFolder, store: str) -> None:
    assert named.below(folder.path.parent, store, str(folder.path)).path == folder.path
    with pytest.raises(UserError, match="is not a run folder"):
        named.below(folder.path.parent, store, "/nowhere/0123")
