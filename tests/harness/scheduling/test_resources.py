import pytest

from harness.errors import UserError
from harness.planning.plan import plan
from harness.planning.request import Request
from harness.scheduling import resources
from harness.scheduling.executors import local
from harness.scheduling.resources import Resources
from harness.scheduling.slots import Slot, local_slots


def test_cores_of_a_run_say_how_many_slots_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(16)))
    assert local_slots(None, [], cpus_per_run=3) == [Slot(threads=3)] * 5
    assert local_slots(2, [], cpus_per_run=3) == [Slot(threads=3)] * 2
    assert local_slots(None, [], gpus_per_run=2, cpus_per_run=8) == [Slot(threads=4)] * 2


@pytest.mark.parametrize(("own", "threads"), [("", 3), ("5", 5)])
def test_a_slot_on_a_node_has_a_thread_for_each_core_unless_the_user_says_more(
    own: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", own)
    assert Resources(cpus_per_run=3).on_a_node() == Slot(threads=threads)


def test_the_processes_of_a_run_divide_its_cores_on_a_node_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert Resources(cpus_per_run=8, gpus_per_run=2).on_a_node() == Slot(threads=4)
    assert Resources(gpus_per_run=2).on_a_node() == Slot(threads=1)


def test_runs_for_a_cpu_see_no_gpu_wherever_they_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "visible_gpus", lambda: ["0"])
    asked = Resources(slots=1, device="cpu")
    for (slot,) in (asked.here(), [asked.on_a_node()]):
        assert slot.environment["CUDA_VISIBLE_DEVICES"] == ""
    assert Resources().here() == [Slot(gpu="0")]


@pytest.mark.parametrize(("device", "weights"), [("gpu", "bfloat16"), ("cpu", "float32")])
def test_runs_are_planned_for_the_device_that_the_user_names(device: str, weights: str) -> None:
    request = Request(methods="lora", tasks="gsm8k", device=device)  # type: ignore[arg-type]
    (run,) = plan(request)
    assert (run.gpu, run.spec.weights) == (device == "gpu", weights)
    assert run.provenance.command[-2:] == ("--device", device)


def test_this_machine_refuses_runs_for_gpus_that_it_does_not_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(local, "visible_gpus", list)
    with pytest.raises(UserError, match="torch sees none on this machine"):
        local.executor(Resources(device="gpu"))
