"""What an attempt has of those before it: seconds, memory, and the environment."""

from pathlib import Path

import pytest

from results.runfolder import attempts, earlier
from results.runfolder.folder import RunFolder
from results.runfolder.values import Environment

HERE = Environment(
    packages={"torch": "2.13.0"},
    python="3.11.9",
    torch="2.13.0+cpu",
    device="CPU A",
    machine={"host": "one"},
    harness={"version": "0.1"},
)
OTHER = HERE.model_copy(update={"device": "CPU B"})


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder(tmp_path)


def attempt(folder: RunFolder, peak: int = 0, kind: str | None = None, **seconds: float) -> None:
    begun = attempts.begin(folder)
    assert begun
    ended = {"status": "failed", "kind": kind, "seconds": seconds, "peak_memory_bytes": peak}
    attempts.keep(folder, begun.model_copy(update=ended))


def keep(folder: RunFolder, name: str) -> None:
    (folder.path / name).parent.mkdir(exist_ok=True)
    (folder.path / name).touch()


def test_what_was_spent_on_answers_that_are_kept_is_summed_over_all_attempts_but_the_last(
    folder: RunFolder,
) -> None:
    attempt(folder, train=9.0, generate=5.0, likelihood=1.0, wall=20.0)
    attempt(folder, generate=3.0)
    attempt(folder, generate=100.0)
    assert earlier.seconds(folder) == {}
    keep(folder, "generations/boolq.partial.jsonl")
    assert earlier.seconds(folder) == {"generate": 8.0}
    keep(folder, "likelihoods/boolq.jsonl")
    assert earlier.seconds(folder) == {"generate": 8.0, "likelihood": 1.0}


def test_the_peak_is_that_of_the_attempts_since_one_had_too_little_memory(
    folder: RunFolder,
) -> None:
    assert earlier.peak_memory_bytes(folder) == 0
    attempt(folder, peak=900)
    attempt(folder, peak=800, kind="memory")
    attempt(folder, peak=500, kind="vanished")
    attempt(folder, peak=400)
    attempt(folder, peak=700)  # the one at work, which measures itself
    assert earlier.peak_memory_bytes(folder) == 500


@pytest.mark.parametrize(
    "kept", ["checkpoints/40", "training.json", "generations/boolq.partial.jsonl"]
)
def test_a_run_that_goes_on_in_another_environment_is_of_neither(
    folder: RunFolder, kept: str
) -> None:
    folder.write_environment(OTHER)
    keep(folder, kept)
    joined = earlier.begun(folder, HERE)
    assert joined.begun == f"on CPU B by torch 2.13.0+cpu (environment {OTHER.identity[:8]})"
    assert len({joined.identity, HERE.identity, OTHER.identity}) == 3


def test_all_environments_of_a_run_are_named_once_whatever_their_order(folder: RunFolder) -> None:
    keep(folder, "training.json")
    third = HERE.model_copy(update={"device": "CPU C"})
    ways = ([OTHER, HERE, third, OTHER, HERE], [third, HERE, OTHER, OTHER, third, HERE])
    ends = []
    for way in ways:
        folder.write_environment(way[0])
        for one in way[1:]:
            folder.write_environment(earlier.begun(folder, one))
        ends.append(folder.environment())
    first, second = ends
    assert first
    assert second
    assert (first.begun or "").count("CPU") == 2
    assert first.identity == second.identity


def test_a_run_that_stays_in_its_environment_or_kept_nothing_of_another_is_of_that_one(
    folder: RunFolder,
) -> None:
    assert earlier.begun(folder, HERE) == HERE
    folder.write_environment(OTHER)
    assert earlier.begun(folder, HERE) == HERE
    keep(folder, "training.json")
    elsewhere = OTHER.model_copy(update={"machine": {"host": "two"}})
    assert earlier.begun(folder, elsewhere) == elsewhere
    (folder.path / "environment.json").write_text("damaged")
    assert earlier.begun(folder, HERE) == HERE
