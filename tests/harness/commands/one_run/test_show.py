"""`harness show` of a run whose folder tells more than the store: attempts, damage, edits."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.commands.one_run.show import show
from harness.spec.planned import PlannedRun
from results.runfolder import attempts
from results.runfolder.aside import set_aside
from results.runfolder.claims import Claim, claimed
from results.runfolder.folder import RunFolder, RunFolderError
from results.runfolder.record_of import record_of
from results.runfolder.values import Event, Result, TrainRecord
from results.store import Store


@pytest.fixture
def folder(tmp_path: Path, planned: Callable[..., PlannedRun]) -> RunFolder:
    made = RunFolder(tmp_path / "run")
    made.create(*planned().kept)
    return made


def attempt(folder: RunFolder, phase: float, memory: int, end: Callable[[Claim], Any]) -> None:
    """Make an attempt of 10 seconds in all, so many of which it trained."""
    with claimed(folder, pytest.fail) as claim:
        assert claim
        claim.measure = lambda: ({"train": phase}, memory)
        end(claim)
    last = attempts.last(folder)
    assert last
    attempts.keep(folder, last.model_copy(update={"seconds": {**last.seconds, "wall": 10.0}}))


def finish(folder: RunFolder, result: Result) -> Callable[[Claim], None]:
    def end(claim: Claim) -> None:
        folder.write_result(result.model_copy(update={"attempt": claim.token}))
        claim.end("finished")

    return end


@pytest.mark.parametrize("in_full", [False, True])
def test_several_attempts_are_summed_up(folder: RunFolder, result: Result, in_full: bool) -> None:
    attempt(folder, 6.0, 3 * 2**20, lambda claim: claim.end("interrupted"))
    attempt(folder, 1.5, 5 * 2**20, lambda claim: claim.beat())
    attempt(folder, 0.0, 2**20, finish(folder, result))
    said = " ".join(show("none.db", str(folder.path), in_full=in_full).text.split())
    expected = "3 (interrupted, ended without a word, finished), together 30.0 s (train 7.5"
    assert expected in said
    assert "peak memory 5 MiB" in said


def test_a_single_attempt_is_not_told_of(folder: RunFolder, result: Result) -> None:
    attempt(folder, 6.0, 3, finish(folder, result))
    assert "attempts" not in show("none.db", str(folder.path)).text


def test_what_was_set_aside_and_weights_that_were_edited_are_named(
    folder: RunFolder, result: Result
) -> None:
    folder.adapter.mkdir()
    weights = folder.adapter / "adapter_model.safetensors"
    weights.write_bytes(b"1234")
    folder.write_method_record({"layers": [1]})
    set_aside(folder.path, "method.json")
    attempt(folder, 6.0, 3, finish(folder, result))
    weights.write_bytes(b"1235")
    said = show("none.db", str(folder.path)).text
    assert "set aside damaged/1/method.json" in said
    assert "edited after the run: adapter/adapter_model.safetensors" in " ".join(said.split())


def test_losses_that_the_events_lack_are_told_of(
    folder: RunFolder, result: Result, train_record: TrainRecord
) -> None:
    folder.write_train_record(train_record.model_copy(update={"steps": 3, "best_step": 3}))
    events = [Event(time=0.0, step=step, loss=1.0) for step in (1, 2, 2, 3)]
    folder.events.write_text("".join(f"{one.model_dump_json()}\n" for one in events))
    attempt(folder, 6.0, 3, finish(folder, result))
    assert "events.jsonl" not in show("none.db", str(folder.path)).text
    first, *_, last = folder.events.read_text().splitlines(keepends=True)
    folder.events.write_text(first + last)
    said = " ".join(show("none.db", str(folder.path)).text.split())
    assert "losses of 2 of 3 steps: events.jsonl is not whole" in said


def test_a_stored_run_whose_result_was_emptied_is_damage(
    folder: RunFolder, result: Result, tmp_path: Path
) -> None:
    attempt(folder, 6.0, 3, finish(folder, result))
    run = record_of(folder)
    assert run
    Store(tmp_path / "harness.db").add(run)
    (folder.path / "result.json").write_text("{}")
    with pytest.raises(RunFolderError, match="damaged: no 'scores'"):
        show(str(tmp_path / "harness.db"), run.run_id)
