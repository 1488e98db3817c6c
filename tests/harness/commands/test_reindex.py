"""`harness reindex`: the store from the run folders alone."""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from harness.commands.reindex import Indexing
from harness.spec.planned import PlannedRun
from results.errors import ResultsError
from results.record import Run, Verdicts
from results.runfolder import attempts
from results.runfolder.claims import claimed
from results.runfolder.folder import RunFolder
from results.runfolder.record_of import folders, record_of
from results.runfolder.values import Result
from results.runfolder.verdicts_of import verdicts_of
from results.store import Reader, Store, database, migrate, version
from results.store.health import fault
from results.store.rebuild import rebuild

Command = Callable[..., Any]

FORMAT_1 = Path(__file__).parents[2] / "results" / "runfolder" / "format_1"


def test_folders_of_format_1_are_taken_where_they_lie(harness: Command, tmp_path: Path) -> None:
    done = harness(tmp_path, "reindex", "--runs", str(FORMAT_1))
    assert done.returncode == 0, done.stderr
    assert f"4 runs of {FORMAT_1} indexed in harness.db." in done.stdout
    runs = {run.run_id: run for run in Reader(tmp_path / "harness.db").runs()}
    assert runs == {folder.path.name: record_of(folder) for folder in folders(FORMAT_1)}


def test_a_damaged_folder_is_left_out_and_named_and_the_others_are_taken(
    harness: Command, tmp_path: Path
) -> None:
    root = tmp_path / "runs"
    shutil.copytree(FORMAT_1, root)
    damaged, newer, *_ = folders(root)
    (damaged.path / "result.json").write_text("{")
    (newer.path / "run.json").write_text(json.dumps({"format": 99}))
    done = harness(tmp_path, "reindex")
    assert done.returncode == 1
    assert f"{damaged.path.name}: left out: " in done.stdout
    assert "result.json is damaged" in done.stdout
    assert "Upgrade the harness." in done.stdout
    assert "2 runs of runs indexed in harness.db." in done.stdout


def test_a_folder_that_is_not_there_is_a_mistake_and_makes_no_store(
    harness: Command, tmp_path: Path
) -> None:
    done = harness(tmp_path, "reindex", "--runs", "nowhere")
    assert done.returncode == 2
    assert "nowhere: no such folder." in done.stderr
    assert not list(tmp_path.iterdir())


def test_runs_that_were_stored_without_verdicts_get_them(harness: Command, tmp_path: Path) -> None:
    store, known = Store(tmp_path / "harness.db"), folders(FORMAT_1)
    runs = [run for folder in known if (run := record_of(folder))]
    for run in runs:
        store.add(run)
    assert store.verdicts(runs) == {}
    assert harness(tmp_path, "reindex", "--runs", str(FORMAT_1)).returncode == 0
    expected = {folder.path.name: by_benchmark(folder) for folder in known}
    assert store.verdicts(runs) == {name: found for name, found in expected.items() if found}
    assert any(expected.values())


def by_benchmark(folder: RunFolder) -> dict[str, Verdicts]:
    return {one.benchmark: one for one in verdicts_of(folder)}


def test_damaged_verdicts_are_named_and_the_run_is_taken(harness: Command, tmp_path: Path) -> None:
    root = tmp_path / "runs"
    shutil.copytree(FORMAT_1, root)
    damaged = next(root.glob("*/verdicts/boolq.jsonl"))
    damaged.write_text("{")
    done = harness(tmp_path, "reindex")
    assert done.returncode == 1
    assert "verdicts left out: " in done.stdout
    assert f"{damaged.name} is damaged" in done.stdout
    assert "4 runs of runs indexed in harness.db." in done.stdout


def expected(root: Path = FORMAT_1) -> dict[str, Run | None]:
    return {folder.path.name: record_of(folder) for folder in folders(root)}


def stored(place: Path) -> dict[str, Run]:
    return {run.run_id: run for run in Reader(place).runs()}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Make a store of all runs of the folders."""
    place = tmp_path / "harness.db"
    Indexing(FORMAT_1).put_into(Store(place))
    return place


def execute(place: Path, statement: str) -> None:
    connection = sqlite3.connect(place)
    connection.execute(statement)
    connection.commit()
    connection.close()


def overwritten(place: Path, start: float, end: float) -> None:
    """Write zeros over a part of a file, given in shares of its length."""
    size = place.stat().st_size
    with place.open("r+b") as file:
        file.seek(int(start * size))
        file.write(bytes(int((end - start) * size)))


def forget_and_damage(place: Path) -> None:
    Store(place).forget(folders(FORMAT_1)[0].path.name, "the wrong data")
    execute(place, "UPDATE documents SET spec = '{' WHERE attempt = 1")


DAMAGES: dict[str, Callable[[Path], object]] = {
    "another text": lambda place: place.write_text("not a database " * 999),
    "first half": lambda place: overwritten(place, 0, 0.5),
    "second half": lambda place: overwritten(place, 0.5, 1),
    "cut": lambda place: os.truncate(place, place.stat().st_size // 2),
    "no scores": lambda place: execute(place, "DROP TABLE scores"),
    "no runs": lambda place: execute(place, "DROP TABLE runs"),
    "no version": lambda place: execute(place, "DROP TABLE harness_schema"),
    "no row of the version": lambda place: execute(place, "DELETE FROM harness_schema"),
    "a column less": lambda place: execute(place, "ALTER TABLE documents DROP COLUMN flags"),
    "no JSON": lambda place: execute(place, "UPDATE documents SET spec = '{' WHERE attempt = 2"),
    "no JSON of a forgotten run": forget_and_damage,
    "no UTF-8": lambda place: execute(place, "UPDATE runs SET method = CAST(x'ff' AS TEXT)"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_store_is_built_anew_and_kept_under_a_name_that_says_so(
    name: str, harness: Command, store: Path
) -> None:
    DAMAGES[name](store)
    before = store.read_bytes()
    done = harness(store.parent, "reindex", "--runs", str(FORMAT_1))
    assert done.returncode == 0, done.stderr
    assert stored(store) == expected()
    (kept,) = (path for path in store.parent.iterdir() if path != store)
    assert kept.name.startswith("harness.db.damaged-")
    assert kept.stat().st_size == len(before)
    assert f"What was there is kept as {kept}." in done.stdout


@pytest.mark.parametrize("what", ["folder", "FIFO", "socket"])
def test_what_stands_in_the_place_of_a_store_is_moved(
    what: str, harness: Command, tmp_path: Path, hostile: Any, at_once: None
) -> None:
    hostile(what, tmp_path / "harness.db")
    done = harness(tmp_path, "reindex", "--runs", str(FORMAT_1))
    assert done.returncode == 0, done.stderr
    assert f"harness.db is a {what}: rebuilt." in done.stdout
    assert stored(tmp_path / "harness.db") == expected()
    assert len(list(tmp_path.glob("harness.db.damaged-*"))) == 1


def test_a_store_of_an_older_schema_is_brought_up_to_date(harness: Command, tmp_path: Path) -> None:
    older, store = tmp_path / "migrations", tmp_path / "harness.db"
    shutil.copytree(version.MIGRATIONS, older)
    max(older.glob("versions/v*.py")).unlink()
    with database.to_write(store).transaction() as connection:
        migrate.upgrade(connection, "harness.db", older)
    with pytest.raises(ResultsError, match="so does `harness reindex`"):
        Reader(store)
    done = harness(tmp_path, "reindex", "--runs", str(FORMAT_1))
    assert done.returncode == 0, done.stderr
    assert "rebuilt" not in done.stdout
    assert stored(store) == expected()


@pytest.mark.parametrize("drop", ["the file", "all tables", "the content"])
def test_a_store_of_which_nothing_is_left_is_made_again(
    drop: str, harness: Command, store: Path
) -> None:
    store.unlink()
    if drop == "all tables":
        execute(store, "PRAGMA user_version = 1")
    if drop == "the content":
        store.touch()
    assert harness(store.parent, "reindex", "--runs", str(FORMAT_1)).returncode == 0
    assert stored(store) == expected()
    assert [*store.parent.iterdir()] == [store]


def test_the_journal_of_a_damaged_store_goes_with_it(store: Path) -> None:
    store.write_text("no database")
    journal = store.with_name("harness.db-journal")
    journal.write_text("would be applied to the new file")
    rebuild(str(store), Indexing(FORMAT_1).put_into)
    (kept,) = store.parent.glob("harness.db.damaged-*-journal")
    assert kept.read_text() == "would be applied to the new file"
    assert not journal.exists()
    assert stored(store) == expected()


def test_the_folder_of_the_run_folders_is_not_moved(harness: Command, tmp_path: Path) -> None:
    shutil.copytree(FORMAT_1, tmp_path / "runs")
    done = harness(tmp_path, "reindex", "--store", "runs")
    assert done.returncode == 2
    assert "holds the run folders" in done.stderr
    assert expected(tmp_path / "runs").keys() == expected().keys()


def test_another_database_is_left_alone(harness: Command, tmp_path: Path) -> None:
    execute(tmp_path / "harness.db", "CREATE TABLE songs (title TEXT)")
    before = (tmp_path / "harness.db").read_bytes()
    done = harness(tmp_path, "reindex", "--runs", str(FORMAT_1))
    assert done.returncode == 2
    assert "is the database of another program" in done.stderr
    assert (tmp_path / "harness.db").read_bytes() == before


def test_a_whole_store_keeps_what_no_folder_holds_and_its_runs_are_put_right(
    harness: Command, store: Path
) -> None:
    first = next(run for run in stored(store).values() if run.scores)
    alone = replace(first, run_id="f" * 16, folder="/gone")
    Store(store).add(alone)
    execute(store, "UPDATE scores SET value = 1.0")
    execute(store, "UPDATE runs SET method = 'mine' WHERE run_id != 'ffffffffffffffff'")
    assert harness(store.parent, "reindex", "--runs", str(FORMAT_1)).returncode == 0
    found = stored(store)
    assert {one.value for one in found.pop("f" * 16).scores} == {1.0}
    assert found == expected()


FOUND_BY = ("averages", "facts", "fields", "kinds")
"""Tables that are made of what others hold, for queries."""


def content(place: Path) -> dict[str, set[tuple[object, ...]]]:
    with closing(sqlite3.connect(place)) as connection:
        connection.execute("UPDATE kinds SET changed = 0")
        return {one: {*connection.execute(f"SELECT * FROM {one}")} for one in (*FOUND_BY, "runs")}


@pytest.mark.parametrize(
    "statement",
    [
        *(f"DELETE FROM {table}" for table in FOUND_BY),
        "DELETE FROM facts WHERE field = (SELECT field FROM fields WHERE name = 'train.lr')",
        "UPDATE averages SET micro = 0.99",
        "UPDATE fields SET value = 7, number = 7",
        "UPDATE kinds SET method = 'mine'",
        "UPDATE runs SET kind = '', spec_facts = 0, environment_facts = 0, wall_seconds = 0",
    ],
)
def test_what_runs_are_found_by_is_put_right(statement: str, harness: Command, store: Path) -> None:
    before = content(store)
    execute(store, statement)
    done = harness(store.parent, "reindex", "--runs", str(FORMAT_1))
    assert done.returncode == 0, done.stderr
    assert stored(store) == expected()
    assert content(store) == before
    changed = Reader(store).changed()
    assert harness(store.parent, "reindex", "--runs", str(FORMAT_1)).returncode == 0
    assert Reader(store).changed() == changed


def test_a_second_reindex_changes_nothing(harness: Command, store: Path) -> None:
    before = Reader(store).changed()
    assert harness(store.parent, "reindex", "--runs", str(FORMAT_1)).returncode == 0
    assert Reader(store).changed() == before


def test_a_copied_folder_is_one_run(harness: Command, tmp_path: Path) -> None:
    root = tmp_path / "runs"
    shutil.copytree(FORMAT_1, root)
    original, *_ = folders(root)
    shutil.copytree(original.path, root / "0 copy")
    done = harness(tmp_path, "reindex")
    assert done.returncode == 0
    assert "4 runs of runs indexed" in done.stdout
    assert stored(tmp_path / "harness.db")[original.path.name].folder == str(original.path)


def test_a_copy_with_another_result_is_named(harness: Command, tmp_path: Path) -> None:
    root = tmp_path / "runs"
    shutil.copytree(FORMAT_1, root)
    original = next(folder for folder in folders(root) if folder.finished)
    copy = root / "copy"
    shutil.copytree(original.path, copy)
    result = json.loads((copy / "result.json").read_text())
    result["scores"][0]["value"] = 0.999
    (copy / "result.json").write_text(json.dumps(result))
    done = harness(tmp_path, "reindex")
    assert done.returncode == 1
    assert f"{copy}: left out: a copy of {original.path}, but with another result." in done.stdout
    assert stored(tmp_path / "harness.db")[original.path.name] == record_of(original)


def test_store_and_run_folders_can_be_moved_together(harness: Command, tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    shutil.copytree(FORMAT_1, before / "runs")
    assert harness(before, "reindex").returncode == 0
    before.rename(after)
    assert stored(after / "harness.db") == expected(after / "runs")


@pytest.mark.parametrize("what", ["folder", "FIFO", "socket", "link to nothing"])
@pytest.mark.parametrize("file", ["spec.json", "result.json", "verdicts/boolq.jsonl"])
def test_a_folder_with_something_in_the_place_of_a_file_is_named(
    what: str, file: str, harness: Command, tmp_path: Path, hostile: Any, at_once: None
) -> None:
    root = tmp_path / "runs"
    shutil.copytree(FORMAT_1, root)
    place = next(root.glob(f"*/{file}"))
    hostile(what, place)
    done = harness(tmp_path, "reindex")
    assert done.returncode == 1
    assert f"{place} is a {what}, not a file." in done.stdout


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("spec.json", None),
        ("spec.json", "[" * 100_000),
        ("spec.json", "[]"),
        ("spec.json", "{}"),
        ("spec.json", '{"method": "\\ud800"}'),
        ("result.json", ""),
        ("result.json", '{"started": 1e300}'),
    ],
)
def test_a_folder_with_a_damaged_file_is_named_with_the_file(
    file: str, text: str | None, harness: Command, tmp_path: Path
) -> None:
    root = tmp_path / "runs"
    shutil.copytree(FORMAT_1, root)
    place = next(folder for folder in folders(root) if folder.finished).path / file
    place.unlink() if text is None else place.write_text(text)
    done = harness(tmp_path, "reindex")
    assert done.returncode == 1
    assert f"{place.parent}: left out: {place}" in done.stdout
    assert "3 runs of runs indexed" in done.stdout


def test_what_ends_while_folders_are_read_is_stored(tmp_path: Path) -> None:
    root, store = tmp_path / "runs", Store(tmp_path / "harness.db")
    shutil.copytree(FORMAT_1, root)
    late = next(folder for folder in folders(root) if folder.finished)
    (late.path / "result.json").rename(tmp_path / "result.json")
    indexing = Indexing(root)
    indexing.put_into(store)
    assert late.path.name not in stored(tmp_path / "harness.db")
    (tmp_path / "result.json").rename(late.path / "result.json")
    indexing.put_into(store)
    assert stored(tmp_path / "harness.db") == expected(root)


def test_a_store_that_is_gone_has_every_failed_attempt_again(
    harness: Command, root: Path, planned: Callable[..., PlannedRun], result: Result
) -> None:
    place, folder = root.parent / "harness.db", RunFolder(root / "run")
    folder.create(*planned().kept)
    with claimed(folder, lambda: None) as claim:
        assert claim
        claim.fail("OutOfMemoryError: 2 GiB", "memory")
    store_as_a_grid_does(folder, place)
    with claimed(folder, lambda: None):
        pass
    attempts.close(folder, "the process of the run was ended by SIGKILL", "vanished")
    store_as_a_grid_does(folder, place)
    with claimed(folder, lambda: None) as claim:
        assert claim
        started = datetime.now(UTC).timestamp()
        folder.write_result(result.model_copy(update={"started": started, "attempt": claim.token}))
        claim.end("finished")
    store_as_a_grid_does(folder, place)
    before = endings(place)
    assert [status for status, _, _ in before] == ["finished", "failed", "failed"]
    assert harness(root.parent, "reindex").returncode == 0
    assert endings(place) == before
    place.unlink()
    assert "1 run of runs indexed" in harness(root.parent, "reindex").stdout
    assert endings(place) == before


def test_a_run_that_was_interrupted_after_it_failed_keeps_its_failure(
    harness: Command, root: Path, planned: Callable[..., PlannedRun]
) -> None:
    folder = RunFolder(root / "run")
    folder.create(*planned().kept)
    with claimed(folder, lambda: None) as claim:
        assert claim
        claim.fail("ValueError: no such layer", "exception")
    with claimed(folder, lambda: None):
        pass
    attempts.interrupt(folder)
    assert harness(root.parent, "reindex").returncode == 0
    ((status, reason, _),) = endings(root.parent / "harness.db")
    assert (status, reason) == ("failed", "ValueError: no such layer")


def test_a_copy_that_went_on_after_a_failure_is_another_attempt(
    harness: Command, root: Path, planned: Callable[..., PlannedRun], result: Result
) -> None:
    folder, copy = RunFolder(root / "run"), RunFolder(root / "a-copy")
    folder.create(*planned().kept)
    with claimed(folder, lambda: None) as claim:
        assert claim
        claim.fail("ValueError: no such layer", "exception")
    shutil.copytree(folder.path, copy.path)
    with claimed(copy, lambda: None) as claim:
        assert claim
        copy.write_result(result.model_copy(update={"attempt": claim.token}))
    done = harness(root.parent, "reindex")
    assert (done.returncode, done.stderr) == (0, "")
    found = sorted((run.status, Path(run.folder).name) for run in Reader("harness.db").runs())
    assert found == [("failed", "run"), ("finished", "a-copy")]


def test_a_damaged_attempt_is_named_and_the_run_is_taken(
    harness: Command, root: Path, planned: Callable[..., PlannedRun], result: Result
) -> None:
    folder = RunFolder(root / "run")
    folder.create(*planned().kept)
    folder.write_result(result)
    (folder.path / "attempts").mkdir()
    (folder.path / "attempts" / "0001.json").write_text("{")
    done = harness(root.parent, "reindex")
    assert done.returncode == 1
    assert "failed attempts left out: " in done.stdout
    assert "0001.json is damaged" in done.stdout
    assert [status for status, _, _ in endings(root.parent / "harness.db")] == ["finished"]


def store_as_a_grid_does(folder: RunFolder, place: Path) -> None:
    run = record_of(folder)
    assert run
    Store(place).add(run)


def endings(place: Path) -> list[tuple[str, str, datetime]]:
    """List how all attempts ended, the last one first, with their starts."""
    return [(run.status, run.reason, run.started) for run in Reader(place).runs()]


def test_a_store_that_is_made_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    place = tmp_path / "harness.db"
    with pytest.raises(FileExistsError):
        rebuild(str(place), lambda store: Indexing(FORMAT_1).put_into(Store(place)))
    assert stored(place) == expected()
    assert [*tmp_path.iterdir()] == [place]


def test_a_rebuild_that_breaks_off_leaves_what_was_there(store: Path) -> None:
    store.write_text("damaged")

    def breaks_off(store: Store) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rebuild(str(store), breaks_off)
    assert store.read_text() == "damaged"
    assert [*store.parent.iterdir()] == [store]


def test_a_store_is_whole_until_something_happens_to_it(store: Path) -> None:
    assert fault(str(store)) is None
