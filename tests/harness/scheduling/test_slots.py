import pytest
import torch

from harness.errors import UserError
from harness.scheduling import slots as module
from harness.scheduling.slots import MOST_CPU_SLOTS, Slot, local_slots, take, visible_gpus


def test_cpu_slots_share_the_cores_whatever_the_number_of_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(16)))
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
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


def test_the_threads_that_the_user_asks_for_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    (slot, _) = local_slots(2, [])
    assert "OMP_NUM_THREADS" not in slot.environment


@pytest.fixture
def four_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have torch count as it does on a machine with four GPUs: up to the first wrong name."""
    uuids = [f"GPU-{letter * 8}" for letter in "abcd"]

    def count() -> int:
        names = module.os.environ["CUDA_VISIBLE_DEVICES"].split(",")
        right = [name.strip() in {*"0123", *uuids} for name in names]
        return [*right, False].index(False) if len({*names}) == len(names) else 0

    monkeypatch.setattr("harness.gpus.possible", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", count)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1,2,3")


@pytest.mark.usefixtures("four_gpus")
@pytest.mark.parametrize(
    ("asked", "found"),
    [("0,1", ["0", "1"]), ("3", ["3"]), ("0, 2", ["0", "2"]), ("GPU-cccccccc", ["GPU-cccccccc"])],
)
def test_gpus_are_those_that_are_asked_for(asked: str, found: list[str]) -> None:
    take(asked)
    assert visible_gpus() == found


@pytest.mark.usefixtures("four_gpus")
@pytest.mark.parametrize(
    ("asked", "wrong"),
    [("0,7", "^7: no GPU"), ("GPU-zzzzzzzz", "^GPU-zzzzzzzz: "), ("1,1", "twice")],
)
def test_a_gpu_that_is_not_there_is_a_fault_at_once(asked: str, wrong: str) -> None:
    with pytest.raises(UserError, match=wrong):
        take(asked)


@pytest.mark.usefixtures("four_gpus")
@pytest.mark.parametrize("hidden", ["", "-1", "NoDevFiles"])
def test_gpus_that_the_user_hides_are_no_fault(
    monkeypatch: pytest.MonkeyPatch, hidden: str
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
    assert visible_gpus() == []


def test_gpus_asked_for_on_a_machine_without_any_are_a_fault(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")  # so that it is put back
    monkeypatch.setattr("harness.gpus.possible", lambda: False)
    with pytest.raises(UserError, match="--gpus 0: there is no GPU"):
        take("0")
