import pytest
import torch

from harness.scheduling.slots import MOST_CPU_SLOTS, Slot, local_slots, visible_gpus


def test_cpu_slots_share_the_cores_whatever_the_number_of_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(16)))
    assert local_slots(None, []) == [Slot(threads=4)] * MOST_CPU_SLOTS
    assert local_slots(2, []) == [Slot(threads=8)] * 2
    assert local_slots(32, []) == [Slot(threads=1)] * 32


@pytest.mark.parametrize(("slots", "used"), [(None, ["2", "5"]), (1, ["2"]), (9, ["2", "5"])])
def test_a_gpu_is_one_slot(slots: int | None, used: list[str]) -> None:
    assert local_slots(slots, ["2", "5"]) == [Slot(gpu=gpu) for gpu in used]


def test_slots_of_one_gpu_come_after_one_of_each() -> None:
    slots = local_slots(None, ["2", "5"], per_gpu=2)
    assert [slot.gpu for slot in slots] == ["2", "5", "2", "5"]
    assert local_slots(3, ["2", "5"], per_gpu=2) == slots[:3]


def test_a_slot_says_what_a_process_within_it_may_use() -> None:
    assert Slot(gpu="5").environment == {"CUDA_VISIBLE_DEVICES": "5"}
    assert Slot(threads=4).environment["OMP_NUM_THREADS"] == "4"
    assert Slot().environment == {}


@pytest.mark.skipif(torch.cuda.is_available(), reason="claims something of machines without GPU")
def test_without_a_gpu_none_is_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    assert visible_gpus() == []
