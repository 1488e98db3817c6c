"""Tags and notes on a run."""

import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from harness.commands.one_run import remarks
from harness.commands.reindex import reindex
from harness.errors import UserError
from results.errors import ResultsError
from results.runfolder.folder import RunFolder
from results.runfolder.remarks import kept as kept_of
from results.store import Reader

FORMAT_1 = Path(__file__).parents[3] / "results" / "runfolder" / "format_1"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    shutil.copytree(FORMAT_1, tmp_path / "runs")
    reindex(str(tmp_path / "harness.db"), tmp_path / "runs")
    return tmp_path / "harness.db"


def test_tags_and_notes_survive_a_new_store(store: Path) -> None:
    run = Reader(store).runs()[0].run_id
    remarks.tag(str(store), run, ["main", "paper"])
    remarks.untag(str(store), run, ["paper"])
    remarks.note(str(store), run, "looks right")
    store.unlink()
    reindex(str(store), store.parent / "runs")
    found = Reader(store).run(run)
    assert found.tags == ("main",)
    assert [note.text for note in found.notes] == ["looks right"]


def test_a_run_without_its_folder_is_tagged_in_the_store_alone(store: Path) -> None:
    run = Reader(store).runs()[0].run_id
    shutil.rmtree(store.parent / "runs")
    assert "the store alone" in remarks.tag(str(store), run, ["main"]).notes[0]


def test_notes_that_are_written_at_once_are_all_kept(store: Path) -> None:
    run = Reader(store).runs()[0].run_id
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: remarks.note(str(store), run, f"note {number}"), range(12)))
    expected = {f"note {number}" for number in range(12)}
    assert {note.text for note in Reader(store).run(run).notes} == expected
    _, kept = kept_of(RunFolder(store.parent / "runs" / run))
    assert {note.text for note in kept} == expected


def test_what_another_store_wrote_into_the_folder_stays(store: Path, tmp_path: Path) -> None:
    other = str(tmp_path / "other.db")
    reindex(other, store.parent / "runs")
    run = Reader(store).runs()[0].run_id
    remarks.note(str(store), run, "here")
    told = remarks.tag(other, run, ["there"])
    assert (told.value.tags, [note.text for note in told.value.notes]) == (("there",), ["here"])
    tags, notes = kept_of(RunFolder(store.parent / "runs" / run))
    assert (tags, [note.text for note in notes]) == (("there",), ["here"])


def test_a_tag_makes_no_store_where_there_is_none(tmp_path: Path) -> None:
    place = tmp_path / "none.db"
    with pytest.raises(ResultsError, match="There is no store at"):
        remarks.tag(str(place), "abcd", ["main"])
    assert not place.exists()


@pytest.mark.parametrize("tag", ["two words", "", "a\x1bb"])
def test_a_tag_is_one_word(store: Path, tag: str) -> None:
    with pytest.raises(UserError, match="not one word"):
        remarks.tag(str(store), Reader(store).runs()[0].run_id, [tag])


def test_a_tag_that_is_not_there_is_not_taken_away(store: Path) -> None:
    with pytest.raises(UserError, match="has no tag 'main'"):
        remarks.untag(str(store), Reader(store).runs()[0].run_id, ["main"])


def test_two_runs_are_compared_by_their_ids(store: Path, harness: Callable[..., Any]) -> None:
    first, second = [run.run_id for run in Reader(store).runs()][:2]
    done = harness(store.parent, "diff", first, second)
    assert done.returncode == 0, done.stderr
    assert "## Spec" in done.stdout


def test_a_run_is_tagged_and_noted_by_its_folder_too(
    store: Path, harness: Callable[..., Any]
) -> None:
    run = Reader(store).runs()[0].run_id
    for words in (("tag", f"runs/{run}", "main"), ("note", f"runs/{run}", "looks right")):
        done = harness(store.parent, *words)
        assert done.returncode == 0, done.stderr
    found = Reader(store).run(run)
    assert (found.tags, found.notes[0].text) == (("main",), "looks right")
