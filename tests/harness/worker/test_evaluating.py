"""What a run keeps for its evaluations, where there is memory for it and where there is none."""

from pathlib import Path

import pytest

from harness.planning.plan import plan
from harness.planning.request import Request
from harness.worker.journal import Journal
from harness.worker.machine import device
from harness.worker.stages import Stages
from results.runfolder.claims import claimed
from results.runfolder.events import read_new
from results.runfolder.folder import RunFolder

REQUEST = Request(
    methods="lora",
    tasks="boolq",
    limit=4,
    train_limit=20,
    settings=["train.epochs=1", "protocol.max_new_tokens=4"],
)


def worked(path: Path) -> tuple[RunFolder, bool]:
    """Run in this process; say whether an event tells of memory that was short."""
    (planned,) = plan(REQUEST)
    folder = RunFolder(path)
    folder.create(*planned.kept)
    with claimed(folder, pytest.fail) as claim, Journal(folder.events) as journal:
        assert claim
        Stages(claim, planned, journal).run()
    events, _ = read_new(folder.events, 0)
    return folder, any(event.recomputed for event in events)


def test_without_memory_for_what_is_kept_a_run_says_so_and_answers_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, enough = worked(tmp_path / "kept")
    (tmp_path / "meminfo").write_text("MemTotal: 8 kB\nMemAvailable:       4 kB\n")
    monkeypatch.setattr(device, "MEMORY", tmp_path / "meminfo")
    assert device.free_memory() == 4096
    recomputed, short = worked(tmp_path / "recomputed")
    assert (enough, short) == (False, True)
    assert recomputed.generations("boolq") == kept.generations("boolq")
    for found, expected in zip(
        recomputed.option_likelihoods("boolq"), kept.option_likelihoods("boolq"), strict=True
    ):
        assert found.options == pytest.approx(expected.options, rel=1e-5)


def test_where_the_system_does_not_say_what_is_free_all_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "MEMORY", tmp_path / "nothing")
    assert device.free_memory() > 2**60


@pytest.mark.parametrize("lost", ["generations/boolq.jsonl.gz", "likelihoods/boolq.jsonl"])
def test_what_an_interrupted_run_has_not_written_is_the_same_when_it_goes_on(
    tmp_path: Path, lost: str
) -> None:
    folder, _ = worked(tmp_path / "run")
    whole = folder.generations("boolq"), folder.option_likelihoods("boolq")
    (folder.path / lost).unlink()
    worked(folder.path)
    generations, likelihoods = folder.generations("boolq"), folder.option_likelihoods("boolq")
    assert generations == whole[0]
    for found, expected in zip(likelihoods, whole[1], strict=True):
        assert found.options == pytest.approx(expected.options, rel=1e-5)
