"""`harness export`, `import` and `merge`: runs from one store and folder to another."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from harness.commands.reindex import Indexing
from harness.spec.planned import PlannedRun
from results.record import Note, Run, Score, Verdicts
from results.runfolder.claims import claimed
from results.runfolder.folder import RunFolder
from results.runfolder.record_of import folders
from results.runfolder.values import Result
from results.store import Reader, Store

Command = Callable[..., Any]

FORMAT_1 = Path(__file__).parents[2] / "results" / "runfolder" / "format_1"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Make a store and run folders."""
    place = tmp_path / "here"
    for folder in folders(FORMAT_1):
        shutil.copytree(folder.path, place / "runs" / folder.path.name)
    Indexing(place / "runs").put_into(Store(place / "harness.db"))
    return place


@pytest.fixture
def there(tmp_path: Path) -> Path:
    place = tmp_path / "there"
    place.mkdir()
    return place


@pytest.fixture
def archive(here: Path, harness: Command) -> Path:
    """Export all runs of the store."""
    done = harness(here, "export", *sorted(stored(here)), "--out", "runs.zip")
    assert done.returncode == 0, done.stderr
    assert "4 runs written to runs.zip" in done.stdout
    return here / "runs.zip"


def stored(place: Path) -> dict[str, Run]:
    runs = Reader(place / "harness.db").runs()
    return {run.run_id: replace(run, folder="") for run in runs}


def judged(place: Path) -> dict[str, dict[str, Verdicts]]:
    reader = Reader(place / "harness.db")
    return reader.verdicts(reader.runs(status="finished"))


def contents(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def edit_a_score(runs: Path) -> str:
    """Give a run another score in its folder; return its id."""
    folder = next(folder for folder in folders(runs) if folder.finished)
    result = json.loads((folder.path / "result.json").read_text())
    result["scores"][0]["value"] = 0.999
    (folder.path / "result.json").write_text(json.dumps(result))
    return folder.path.name


def test_what_is_exported_is_imported_with_all_its_files(
    archive: Path, here: Path, there: Path, harness: Command
) -> None:
    done = harness(there, "import", str(archive))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "4 runs imported, 0 there already.\n"
    assert contents(there / "runs") == contents(here / "runs")
    assert stored(there) == stored(here)
    assert judged(there) == judged(here)
    assert any(judged(there).values())
    assert {Path(run.folder).parent for run in Reader(there / "harness.db").runs()} == {
        there / "runs"
    }


def test_failed_attempts_before_the_last_one_are_imported_too(
    here: Path, there: Path, harness: Command, planned: Callable[..., PlannedRun], result: Result
) -> None:
    folder = RunFolder(here / "runs" / planned().head.run_id)
    folder.create(*planned().kept)
    with claimed(folder, lambda: None) as claim:
        assert claim
        claim.fail("OutOfMemoryError: 2 GiB", "memory")
    with claimed(folder, lambda: None) as claim:
        assert claim
        folder.write_result(result.model_copy(update={"attempt": claim.token}))
        claim.end("finished")
    Indexing(here / "runs").put_into(Store(here / "harness.db"))
    harness(here, "export", folder.path.name, "--out", "runs.zip")
    for _ in range(2):
        done = harness(there, "import", str(here / "runs.zip"))
        assert done.returncode == 0, done.stderr
        attempts = Reader(there / "harness.db").runs()
        assert {(run.status, run.reason) for run in attempts} == {
            ("finished", ""),
            ("failed", "OutOfMemoryError: 2 GiB"),
        }
        places = {Path(run.folder) for run in attempts}
        assert places == {there / "runs" / folder.path.name}


def test_importing_twice_changes_nothing(archive: Path, there: Path, harness: Command) -> None:
    harness(there, "import", str(archive))
    before = Reader(there / "harness.db").changed()
    done = harness(there, "import", str(archive))
    assert done.returncode == 0
    assert done.stdout == "0 runs imported, 4 there already.\n"
    assert Reader(there / "harness.db").changed() == before


def test_another_result_of_the_same_run_is_named_and_stays_outside(
    archive: Path, there: Path, harness: Command
) -> None:
    shutil.copytree(FORMAT_1, there / "runs")
    edited = edit_a_score(there / "runs")
    before = contents(there / "runs")
    done = harness(there, "import", str(archive))
    assert done.returncode == 1
    assert f"{edited}: not imported: its " in done.stdout
    assert "0 runs imported, 3 there already." in done.stdout
    assert contents(there / "runs") == before
    assert edited not in stored(there)


def test_a_damaged_archive_places_nothing(archive: Path, there: Path, harness: Command) -> None:
    content = bytearray(archive.read_bytes())
    content[len(content) // 2] ^= 1
    archive.write_bytes(content)
    done = harness(there, "import", str(archive))
    assert done.returncode == 2
    assert not contents(there)


def test_a_run_that_has_not_ended_is_not_exported(here: Path, harness: Command) -> None:
    folder = next(folder for folder in folders(here / "runs") if folder.finished)
    (folder.path / "result.json").unlink()
    done = harness(here, "export", str(folder.path), "--out", "runs.zip")
    assert done.returncode == 2
    assert "this run has not ended yet" in done.stderr
    assert not (here / "runs.zip").exists()


def test_an_archive_is_not_overwritten(archive: Path, here: Path, harness: Command) -> None:
    before = archive.read_bytes()
    done = harness(here, "export", next(iter(stored(here))), "--out", "runs.zip")
    assert done.returncode == 2
    assert "runs.zip is there already" in done.stderr
    assert archive.read_bytes() == before


def test_an_archive_in_the_folder_of_its_run_does_not_hold_itself(
    here: Path, there: Path, harness: Command
) -> None:
    folder = here / "runs" / finished(here).run_id
    before = contents(folder)
    done = harness(folder, "export", ".", "--out", "zz.zip", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["runs"] == [folder.name]
    assert harness(there, "import", str(folder / "zz.zip")).returncode == 0
    assert contents(there / "runs" / folder.name) == before


def test_a_run_that_is_named_twice_is_exported_once(here: Path, harness: Command) -> None:
    run = finished(here).run_id
    done = harness(here, "export", run, f"runs/{run}", str(here / "runs" / run), "--out", "a.zip")
    assert done.returncode == 0, done.stderr
    assert "1 run written to a.zip" in done.stdout


def test_two_copies_of_a_run_are_not_exported(here: Path, harness: Command) -> None:
    run = finished(here).run_id
    shutil.copytree(here / "runs" / run, here / "runs" / "copy")
    done = harness(here, "export", run, "runs/copy", "--out", "runs.zip")
    assert done.returncode == 2
    assert f"runs/copy are both of run {run}. Name one of them." in done.stderr
    assert not (here / "runs.zip").exists()


@pytest.mark.parametrize("file", ["result.json", "verdicts/boolq.jsonl"])
def test_a_damaged_folder_that_is_there_keeps_no_other_run_outside(
    file: str, archive: Path, there: Path, harness: Command
) -> None:
    shutil.copytree(FORMAT_1, there / "runs")
    damaged = next((there / "runs").glob(f"*/{file}"))
    damaged.write_text("{")
    run = damaged.relative_to(there / "runs").parts[0]
    for folder in folders(there / "runs"):
        if folder.path.name != run:
            shutil.rmtree(folder.path)
    done = harness(there, "import", str(archive))
    assert done.returncode == 1
    assert f"{run}: not imported: {damaged} is damaged: " in done.stdout
    assert "3 runs imported, 0 there already." in done.stdout
    assert damaged.read_text() == "{"


def test_a_store_takes_what_another_has(here: Path, there: Path, harness: Command) -> None:
    done = harness(there, "merge", str(here / "harness.db"))
    assert done.returncode == 0, done.stderr
    assert "4 attempts of " in done.stdout
    assert "added to harness.db, 0 there already." in done.stdout
    assert stored(there) == stored(here)
    assert judged(there) == judged(here)
    assert Reader(there / "harness.db").runs() == Reader(here / "harness.db").runs()
    again = harness(there, "merge", str(here / "harness.db"))
    assert again.returncode == 0
    assert "0 attempts of " in again.stdout


def finished(place: Path) -> Run:
    """Give a run whose answers are judged."""
    return next(run for run in Reader(place / "harness.db").runs() if run.extraction)


def test_a_run_with_another_score_is_a_conflict_and_not_merged(
    here: Path, there: Path, harness: Command
) -> None:
    run = finished(here)
    first, *rest = run.scores
    other = replace(run, scores=(replace(first, value=first.value + 0.25), *rest))
    Store(there / "harness.db").add(other)
    done = harness(there, "merge", str(here / "harness.db"))
    assert done.returncode == 1
    assert f"{run.run_id}: not merged: its {first.benchmark} {first.metric}" in done.stdout
    assert "3 attempts of " in done.stdout
    assert stored(there)[run.run_id].scores == other.scores


def test_the_same_result_of_another_attempt_is_not_counted_twice(
    here: Path, there: Path, harness: Command
) -> None:
    run = finished(here)
    Store(there / "harness.db").add(replace(run, started=run.started.replace(year=2020)))
    assert harness(there, "merge", str(here / "harness.db")).returncode == 0
    assert len(Reader(there / "harness.db").runs(prefix=run.run_id)) == 1


def test_failed_attempts_are_merged_beside_the_success(
    here: Path, there: Path, harness: Command
) -> None:
    run = finished(here)
    failed = replace(
        run, status="failed", reason="no memory", scores=(), started=run.started.replace(year=2020)
    )
    Store(here / "harness.db").add(failed)
    assert harness(there, "merge", str(here / "harness.db")).returncode == 0
    runs = Reader(there / "harness.db").runs(prefix=run.run_id)
    assert [one.status for one in runs] == ["finished", "failed"]
    assert judged(there)[run.run_id] == judged(here)[run.run_id]


def test_another_attempt_at_a_run_that_was_forgotten_here_is_named_and_left_out(
    here: Path, there: Path, harness: Command
) -> None:
    run = finished(here)
    mine = Store(there / "harness.db")
    mine.add(replace(run, started=run.started.replace(year=2020)))
    mine.forget(run.run_id, "the wrong data")
    done = harness(there, "merge", str(here / "harness.db"))
    assert done.returncode == 1
    assert f"{run.run_id}: not merged: it was forgotten here: the wrong data" in done.stdout
    assert run.run_id not in stored(there)


def test_an_attempt_that_was_forgotten_here_stays_so(
    here: Path, there: Path, harness: Command
) -> None:
    run = finished(here)
    mine = Store(there / "harness.db")
    mine.add(replace(run, scores=()))
    mine.forget(run.run_id, "the wrong data")
    done = harness(there, "merge", str(here / "harness.db"))
    assert done.returncode == 0
    assert "added to harness.db, 1 there already." in done.stdout
    assert run.run_id not in stored(there)


@pytest.mark.parametrize("is_there", [True, False])
def test_what_was_forgotten_in_the_other_store_is_forgotten_here_too(
    is_there: bool, here: Path, there: Path, harness: Command
) -> None:
    run = finished(here)
    if is_there:
        Store(there / "harness.db").add(run)
    Store(here / "harness.db").forget(run.run_id, "the wrong data")
    assert harness(there, "merge", str(here / "harness.db")).returncode == 0
    (kept,) = Reader(there / "harness.db").runs(forgotten=True)
    assert (kept.run_id, kept.forgotten) == (run.run_id, "the wrong data")
    assert len(stored(there)) == 3


def test_a_run_that_was_run_again_after_it_was_forgotten_is_merged(
    here: Path, there: Path, harness: Command
) -> None:
    run = finished(here)
    before = replace(run, started=run.started.replace(year=2020), forgotten="the wrong data")
    Store(here / "harness.db").add(replace(before, scores=()))
    assert harness(there, "merge", str(here / "harness.db")).returncode == 0
    runs = Reader(there / "harness.db").runs(prefix=run.run_id, forgotten=None)
    assert [one.forgotten for one in runs] == ["", "the wrong data"]
    assert judged(there)[run.run_id] == judged(here)[run.run_id]


def test_tags_and_notes_of_a_run_that_both_stores_have_are_joined(
    here: Path, there: Path, harness: Command
) -> None:
    run = finished(here)
    note = Note(datetime(2026, 2, 1, tzinfo=UTC), "looks right")
    Store(there / "harness.db").add(replace(run, tags=("mine",)))
    Store(here / "harness.db").keep_remarks(replace(run, tags=("theirs",), notes=(note,)))
    assert harness(there, "merge", str(here / "harness.db")).returncode == 0
    merged, before = stored(there)[run.run_id], Reader(there / "harness.db").changed()
    assert (merged.tags, merged.notes) == (("mine", "theirs"), (note,))
    assert harness(there, "merge", str(here / "harness.db")).returncode == 0
    assert Reader(there / "harness.db").changed() == before


def test_an_archived_run_that_was_forgotten_here_is_not_imported(
    archive: Path, here: Path, there: Path, harness: Command
) -> None:
    run = finished(here)
    mine = Store(there / "harness.db")
    mine.add(replace(run, started=run.started.replace(year=2020)))
    mine.forget(run.run_id, "the wrong data")
    done = harness(there, "import", str(archive))
    assert done.returncode == 1
    assert f"{run.run_id}: not imported: it was forgotten here: the wrong data" in done.stdout
    assert not (there / "runs" / run.run_id).exists()


def test_a_store_is_not_merged_with_itself(here: Path, harness: Command) -> None:
    done = harness(here, "merge", "runs/../harness.db")
    assert done.returncode == 2
    assert "is the store itself" in done.stderr


def test_a_score_of_a_later_extractor_is_a_conflict(
    here: Path, there: Path, harness: Command
) -> None:
    run = finished(here)

    def later(score: Score) -> Score:
        return replace(score, extractor_version=99) if score.extractor else score

    Store(there / "harness.db").add(replace(run, scores=tuple(map(later, run.scores))))
    assert harness(there, "merge", str(here / "harness.db")).returncode == 1
