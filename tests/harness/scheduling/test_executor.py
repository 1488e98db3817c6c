import re
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.scheduling.executors.local import (
    MOST_CPU_SLOTS,
    execute,
    slot_environments,
    visible_gpus,
)
from results.runfolder.folder import RunFolder

SECONDS = 10
"""No wait in these tests takes so long, unless what is claimed is not so."""


@pytest.fixture
def folders(tmp_path: Path) -> Callable[[int], list[RunFolder]]:
    def make(count: int) -> list[RunFolder]:
        for number in range(count):
            (tmp_path / str(number)).mkdir()
        return [RunFolder(tmp_path / str(number)) for number in range(count)]

    return make


def finish(folder: RunFolder, slot: int) -> int:
    folder.write("result.json", {"slot": slot})
    return 0


@settings(deadline=None, max_examples=20)
@given(st.lists(st.sampled_from([0.0, 0.001, 0.003]), max_size=12), st.integers(1, 4))
def test_each_run_gets_the_next_free_slot_and_no_slot_has_two(
    tmp_path_factory: pytest.TempPathFactory, naps: list[float], slots: int
) -> None:
    root = tmp_path_factory.mktemp("runs")
    folders = [RunFolder(root / str(number)) for number in range(len(naps))]
    lock, busy, started = threading.Lock(), set[int](), list[int]()

    def launch(folder: RunFolder, slot: int) -> int:
        number = int(folder.path.name)
        folder.path.mkdir()
        with lock:
            assert slot not in busy, "the slot is taken"
            busy.add(slot)
            started.append(number)
        time.sleep(naps[number])
        with lock:
            busy.remove(slot)
        return finish(folder, slot)

    outcomes = list(execute(folders, slots, launch))
    assert {outcome.status for outcome in outcomes} <= {"finished"}
    assert {o.folder.path for o in outcomes} == {f.path for f in folders}
    assert len(started) == len(outcomes) == len(naps)
    # Of the runs before it in the list, only those in the other slots can still be about to start.
    assert all(abs(place - number) < slots for place, number in enumerate(started))


def test_one_slot_keeps_the_order(folders: Callable[[int], list[RunFolder]]) -> None:
    started = []

    def launch(folder: RunFolder, slot: int) -> int:
        started.append(folder.path.name)
        return finish(folder, slot)

    list(execute(folders(9), 1, launch))
    assert started == list("012345678")


def test_all_slots_work_at_once(folders: Callable[[int], list[RunFolder]]) -> None:
    everybody = threading.Barrier(4)
    used = set()

    def launch(folder: RunFolder, slot: int) -> int:
        everybody.wait(SECONDS)  # breaks unless four runs are at work at one time
        used.add(slot)
        return finish(folder, slot)

    assert len(list(execute(folders(8), 4, launch))) == 8
    assert used == {0, 1, 2, 3}


def test_an_outcome_is_yielded_while_other_runs_go_on(
    folders: Callable[[int], list[RunFolder]],
) -> None:
    seen = threading.Event()

    def launch(folder: RunFolder, slot: int) -> int:
        if folder.path.name == "0":
            assert seen.wait(SECONDS)
        return finish(folder, slot)

    outcomes = execute(folders(2), 2, launch)
    assert next(outcomes).folder.path.name == "1"
    seen.set()
    assert [outcome.folder.path.name for outcome in outcomes] == ["0"]


def test_a_failing_run_does_not_end_the_others(folders: Callable[[int], list[RunFolder]]) -> None:
    def launch(folder: RunFolder, slot: int) -> int:
        return 1 if int(folder.path.name) % 2 else finish(folder, slot)

    found = {o.folder.path.name: o.status for o in execute(folders(4), 2, launch)}
    assert found == {"0": "finished", "1": "failed", "2": "finished", "3": "failed"}


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (1, "ended with status 1"),
        (3, "ended with status 3"),
        (-9, "ended by SIGKILL: is there enough memory"),
        (-15, "ended by SIGTERM$"),
        (-11, "ended by SIGSEGV$"),
    ],
)
def test_a_run_that_left_no_reason_gets_the_one_of_its_status(
    folders: Callable[[int], list[RunFolder]], status: int, reason: str
) -> None:
    (outcome,) = execute(folders(1), 1, lambda folder, slot: status)
    assert outcome.status == "failed"
    assert re.search(reason, outcome.folder.read("failure.json")["reason"])


def test_the_reason_that_a_worker_gave_is_kept(folders: Callable[[int], list[RunFolder]]) -> None:
    def launch(folder: RunFolder, slot: int) -> int:
        folder.note_failure("CUDA out of memory")
        return 1

    (outcome,) = execute(folders(1), 1, launch)
    assert outcome.status == "failed"
    assert outcome.folder.read("failure.json")["reason"] == "CUDA out of memory"


def test_a_run_of_another_process_is_no_failure(
    folders: Callable[[int], list[RunFolder]],
) -> None:
    (outcome,) = execute(folders(1), 1, lambda folder, slot: 75)  # EX_TEMPFAIL of sysexits.h
    assert outcome.status == "elsewhere"
    assert not outcome.folder.has("failure.json")


def test_a_run_that_left_no_result_is_not_called_finished(
    folders: Callable[[int], list[RunFolder]],
) -> None:
    (outcome,) = execute(folders(1), 1, lambda folder, slot: 0)
    assert outcome.status == "failed"


def test_a_real_time_signal_is_a_failure_as_any_other(
    folders: Callable[[int], list[RunFolder]],
) -> None:
    (outcome,) = execute(folders(1), 1, lambda folder, slot: -40)
    assert outcome.status == "failed"


def test_ctrl_c_does_not_hang_and_starts_no_further_run(
    folders: Callable[[int], list[RunFolder]],
) -> None:
    workers_ended, started = threading.Event(), []

    def launch(folder: RunFolder, slot: int) -> int:
        started.append(folder.path.name)
        if folder.path.name != "0":
            workers_ended.wait(SECONDS)
        return finish(folder, slot)

    def consume(todo: Sequence[RunFolder]) -> None:
        for _ in execute(todo, 2, launch):
            raise KeyboardInterrupt

    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        consume(folders(50))
    assert time.monotonic() - begun < SECONDS / 2
    workers_ended.set()
    time.sleep(0.05)  # long enough for a thread to take a run that was not called off
    assert len(started) <= 3  # the first, the one beside it, and the one after the first


def test_cpu_slots_share_the_cores_whatever_the_number_of_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(16)))
    threads = [slot["OMP_NUM_THREADS"] for slot in slot_environments(None, [])]
    assert threads == ["4"] * MOST_CPU_SLOTS
    assert [slot["OMP_NUM_THREADS"] for slot in slot_environments(2, [])] == ["8", "8"]
    assert [slot["OMP_NUM_THREADS"] for slot in slot_environments(32, [])] == ["1"] * 32


@pytest.mark.parametrize(("slots", "used"), [(None, ["2", "5"]), (1, ["2"]), (9, ["2", "5"])])
def test_a_gpu_is_one_slot(slots: int | None, used: list[str]) -> None:
    assert slot_environments(slots, ["2", "5"]) == [{"CUDA_VISIBLE_DEVICES": gpu} for gpu in used]


@pytest.mark.skipif(torch.cuda.is_available(), reason="claims something of machines without GPU")
def test_without_a_gpu_none_is_visible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    assert visible_gpus() == []


def test_more_slots_than_runs_do_no_harm(folders: Callable[[int], list[RunFolder]]) -> None:
    assert len(list(execute(folders(2), 8, finish))) == 2
    assert list(execute([], 8, finish)) == []
    with ThreadPoolExecutor(1) as pool:  # nor does a consumer that is no main thread
        assert pool.submit(lambda: list(execute([], 1, finish))).result(SECONDS) == []
