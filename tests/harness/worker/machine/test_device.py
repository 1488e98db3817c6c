"""A run needs the device that it was planned for, and keeps what it held of it."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from harness.spec.outcome import FAILED
from harness.spec.planned import PlannedRun
from harness.worker.__main__ import attempted
from harness.worker.journal import Journal
from harness.worker.machine import device
from results.runfolder.claims import claimed
from results.runfolder.folder import RunFolder

Planned = Callable[..., PlannedRun]

needs_a_gpu = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_run_for_a_gpu_says_what_was_planned_and_what_torch_sees(
    planned: Planned, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "9")
    run = planned(weights="bfloat16").model_copy(update={"gpu": True})
    with pytest.raises(RuntimeError) as error:
        device.require(run)
    for words in (
        "planned for a GPU",
        "bfloat16",
        torch.__version__,
        "CUDA_VISIBLE_DEVICES is '9'",
    ):
        assert words in str(error.value)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_run_for_a_gpu_fails_at_once_without_one(planned: Planned, tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.create(*planned(weights="bfloat16").model_copy(update={"gpu": True}).kept)
    with claimed(folder, pytest.fail) as claim:
        assert claim
        assert attempted(claim) == FAILED
    failure = folder.failure()
    assert failure
    assert "planned for a GPU" in failure.reason
    assert not folder.events.exists()  # not even the backbone was loaded


@pytest.mark.parametrize("weights", ["float32", "bfloat16"])
def test_a_run_that_no_gpu_was_planned_for_goes_on_in_its_precision(
    planned: Planned, weights: str
) -> None:
    device.require(planned(weights=weights))


def test_the_memory_of_a_run_is_that_of_its_largest_phase() -> None:
    peaks = {
        "train": {"allocated": 70, "reserved": 90},
        "generate": {"allocated": 80, "reserved": 85},
    }
    assert device.peak_memory_bytes(peaks) == 80


def test_without_a_gpu_it_is_that_of_the_process() -> None:
    assert device.peak_memory_bytes({}) > 2**20


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_no_phase_has_memory_of_one() -> None:
    assert device.meter() == {}


class TestOnAGPU:
    pytestmark = needs_a_gpu

    def test_a_phase_is_credited_with_what_it_held_and_not_with_what_an_earlier_one_did(
        self, tmp_path: Path
    ) -> None:
        torch.cuda.init()
        with Journal(tmp_path / "events.jsonl", device.meter) as journal:
            with journal.phase("train"):
                torch.empty(64 * 2**20, dtype=torch.uint8, device="cuda")
            with journal.phase("generate"):
                torch.empty(2**20, dtype=torch.uint8, device="cuda")
        train, generate = journal.peak_memory["train"], journal.peak_memory["generate"]
        assert train["allocated"] - generate["allocated"] == 63 * 2**20
        assert train["reserved"] >= train["allocated"]
