"""What `local` claims beyond the contract. Its runs are those of the stand-in, but for one test."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.planning.plan import plan
from harness.planning.request import Request
from harness.scheduling.executors.conformance.stand_in import COMMAND
from harness.scheduling.executors.conformance.trial import at_work, reason
from harness.scheduling.executors.contract import Executor, Job
from harness.scheduling.executors.local import LocalExecutor
from harness.scheduling.process import STARTS
from harness.scheduling.slots import Slot
from results.runfolder.folder import RunFolder

Act = Callable[..., RunFolder]


def local(slots: int) -> LocalExecutor:
    return LocalExecutor([Slot(gpu=str(number)) for number in range(slots)], COMMAND)


def run(executor: Executor, *folders: RunFolder) -> dict[str, str]:
    """Run folders, each as a job; return their statuses by name."""
    for folder in folders:
        executor.submit(Job((folder,)))
    return {outcome.folder.path.name: outcome.status for outcome in executor.outcomes()}


TIMED = """
import json, os, time
begin = time.monotonic()
time.sleep({nap})
times = [os.environ["CUDA_VISIBLE_DEVICES"], begin, time.monotonic()]
(folder.path / "times.json").write_text(json.dumps(times))
finish()
"""


@pytest.fixture(scope="module")
def over() -> Iterator[Callable[[int], Executor]]:
    """Open one executor for each number of slots."""
    executors: dict[int, LocalExecutor] = {}

    def get(slots: int) -> Executor:
        return executors.setdefault(slots, local(slots))

    yield get
    for executor in executors.values():
        executor.close()


@settings(max_examples=8)
@given(naps=st.lists(st.sampled_from([0.0, 0.01, 0.05]), max_size=6), slots=st.integers(1, 3))
def test_each_run_gets_the_next_free_slot_and_no_slot_has_two(
    tmp_path_factory: pytest.TempPathFactory,
    over: Callable[[int], Executor],
    naps: list[float],
    slots: int,
) -> None:
    root = tmp_path_factory.mktemp("runs")
    folders = [RunFolder(root / str(number)) for number in range(len(naps))]
    for folder, nap in zip(folders, naps, strict=True):
        folder.path.mkdir()
        (folder.path / "act.py").write_text(TIMED.format(nap=nap))
    assert run(over(slots), *folders) == {folder.path.name: "finished" for folder in folders}
    times = [json.loads((folder.path / "times.json").read_text()) for folder in folders]
    free = dict.fromkeys(map(str, range(slots)), 0.0)
    since = 0.0  # when the last of the runs so far could be given a slot
    for slot, begin, end in times:
        since = max(since, free[slot])
        assert since <= begin, "it overtook a run, or its slot had another one"
        free[slot] = end


def test_more_slots_than_runs_start_no_more_workers_than_runs(
    act: Act, children: Callable[[int], list[int]]
) -> None:
    before = children(os.getpid())
    with local(8) as executor:
        assert run(executor, act("finish()", "a"), act("finish()", "b")) == {
            "a": "finished",
            "b": "finished",
        }
        assert len(children(os.getpid())) - len(before) <= 2
        assert run(executor) == {}


def test_the_worker_that_was_warmed_up_takes_the_first_run(
    act: Act, children: Callable[[int], list[int]]
) -> None:
    before = children(os.getpid())
    with local(8) as executor:
        executor.warm()
        (warm,) = {*children(os.getpid())} - {*before}
        meet = act("import os; reach(str(os.getppid())); finish()")
        assert run(executor, meet) == {meet.path.name: "finished"}
        assert (meet.path.parent / str(warm)).exists()


def test_leaving_ends_a_worker_that_was_warmed_up_for_nothing(
    children: Callable[[int], list[int]],
) -> None:
    before, pipes = children(os.getpid()), open_pipes()
    with local(2) as executor:
        executor.warm()
        assert len(children(os.getpid())) == len(before) + 1
    assert (children(os.getpid()), open_pipes()) == (before, pipes)


def test_ctrl_c_does_not_hang_and_starts_no_further_run(act: Act) -> None:
    folders = [act("finish()", "0")]
    folders += [act(f"reach('at work {n}'); wait('never')", str(n)) for n in range(1, 50)]

    def consume() -> None:
        with local(2) as executor:
            for folder in folders:
                executor.submit(Job((folder,)))
            for _ in executor.outcomes():
                raise KeyboardInterrupt

    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        consume()
    assert time.monotonic() - begun < 10
    at_work = list(folders[0].path.parent.glob("at work *"))
    assert len(at_work) <= 2  # the one beside the first, and the one after it


def test_ctrl_c_in_a_terminal_reaches_no_worker(
    act: Act, children: Callable[[int], list[int]]
) -> None:
    before = children(os.getpid())
    with local(1) as executor:
        run(executor, act("finish()"))
        (worker,) = {*children(os.getpid())} - {*before}
        # A terminal signals the processes of its foreground group.
        assert os.getpgid(worker) != os.getpgid(0)


def test_a_slot_gives_its_environment_to_its_runs(act: Act) -> None:
    meet = "import os; (folder.path / 'slot').write_text(os.environ['CUDA_VISIBLE_DEVICES']); "
    folders = [
        act(meet + "reach('a'); wait('b'); finish()", "first"),
        act(meet + "reach('b'); wait('a'); finish()", "second"),
    ]
    with LocalExecutor([Slot(gpu="3"), Slot(gpu="5")], COMMAND) as executor:
        run(executor, *folders)
    assert {(folder.path / "slot").read_text() for folder in folders} == {"3", "5"}


def test_a_worker_that_died_is_a_failed_run_and_is_replaced(act: Act) -> None:
    doomed = act(
        "import os, signal; os.kill(os.getppid(), signal.SIGKILL); wait('never')", "doomed"
    )
    good = act("finish()", "good")
    with local(1) as executor:
        executor.submit(Job((doomed, good)))
        found = {outcome.folder.path.name: outcome.status for outcome in executor.outcomes()}
    assert found == {"doomed": "failed", "good": "finished"}
    assert "SIGKILL" in reason(doomed)


def test_a_reason_that_is_no_text_is_written_and_leaves_the_failure_its_kind(act: Act) -> None:
    folder = act(r"raise MemoryError(b'a\xff.json'.decode('utf-8', 'surrogateescape'))")
    with local(1) as executor:
        run(executor, folder)
    failure = folder.failure()
    assert failure
    assert (failure.kind, failure.reason) == ("memory", r"MemoryError: a\udcff.json")


def test_a_worker_that_died_between_two_runs_is_replaced_and_no_run_fails(
    act: Act,
    children: Callable[[int], list[int]],
    alive: Callable[[int], bool],
    until: Callable[..., bool],
) -> None:
    before = children(os.getpid())
    with local(1) as executor:
        run(executor, act("finish()", "a"))
        (worker,) = {*children(os.getpid())} - {*before}
        os.kill(worker, signal.SIGKILL)
        assert until(lambda: not alive(worker))
        assert run(executor, act("finish()", "b")) == {"b": "finished"}


BROKEN = """
import pathlib, sys
starts = pathlib.Path({starts!r})
starts.write_text(starts.read_text() + "x")
sys.exit("ImportError: no libcudart")
"""


def test_a_worker_that_breaks_in_its_imports_fails_each_run_and_is_not_started_for_ever(
    act: Act, tmp_path: Path
) -> None:
    folders = [act("finish()", str(n)) for n in range(5)]
    starts = tmp_path / "starts"
    starts.write_text("")
    broken = [sys.executable, "-c", BROKEN.format(starts=str(starts))]
    with LocalExecutor([Slot()], broken) as executor:
        found = run(executor, *folders)
    assert set(found.values()) == {"failed"}
    assert {reason(folder) for folder in folders} == {
        "The worker ended with status 1: ImportError: no libcudart"
    }
    assert len(starts.read_text()) == STARTS


def submit_and_stop(
    executor: Executor,
    folder: RunFolder,
    children: Callable[[int], list[int]],
    until: Callable[..., bool],
) -> None:
    """Submit a run, and stop its worker and itself once it is at work."""
    before = children(os.getpid())
    executor.submit(Job((folder,)))
    assert until(folder.path.with_name("at work").exists)
    (worker,) = {*children(os.getpid())} - {*before}
    for one in [worker, *children(worker)]:
        os.kill(one, signal.SIGSTOP)


def test_a_stopped_worker_is_ended_too(
    act: Act, children: Callable[[int], list[int]], until: Callable[..., bool]
) -> None:
    folder = act("reach('at work'); wait('never')")
    with local(1) as executor:
        submit_and_stop(executor, folder, children, until)
    assert [one.status for one in executor.outcomes()] == ["cancelled"]
    assert not at_work(folder)


def test_a_stopped_worker_goes_on_when_it_is_asked_to_stop(
    act: Act, children: Callable[[int], list[int]], until: Callable[..., bool]
) -> None:
    before = children(os.getpid())
    with local(1) as executor:
        submit_and_stop(executor, act("reach('at work'); work()"), children, until)
        assert executor.interrupt() == 1
        assert [one.status for one in executor.outcomes()] == ["cancelled"]
        assert until(lambda: children(os.getpid()) == before), "the worker stays"


def test_leaving_ends_workers_and_runs_and_leaves_no_pipe_open(
    act: Act,
    children: Callable[[int], list[int]],
    alive: Callable[[int], bool],
    until: Callable[..., bool],
    orphans: list[int],
) -> None:
    before, pipes = children(os.getpid()), open_pipes()
    folders = [act(f"reach('at work {n}'); wait('never')", n) for n in "ab"]
    with local(2) as executor:
        for folder in folders:
            executor.submit(Job((folder,)))
        assert until(lambda: all(folders[0].path.with_name(f"at work {n}").exists() for n in "ab"))
        workers = [*{*children(os.getpid())} - {*before}]
        runs = [run for worker in workers for run in children(worker)]
        orphans += runs
        assert (len(workers), len(runs)) == (2, 2)
        assert open_pipes() - pipes, "there are no pipes, so nothing is shown"
    # Their files are closed; the kernel takes a moment for the rest.
    assert until(lambda: not any(map(alive, [*workers, *runs])), seconds=1)
    assert open_pipes() - pipes == set()


def open_pipes() -> set[str]:
    found = set()
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the one that lists the folder
            found.add(str(descriptor.readlink()))
    return {name for name in found if name.startswith("pipe:")}


def test_an_error_of_the_executor_itself_is_raised_where_outcomes_are_read(act: Act) -> None:
    with (
        LocalExecutor([Slot()], ["no-such-program"]) as executor,
        pytest.raises(FileNotFoundError, match="no-such-program"),
    ):
        run(executor, act("finish()"))


def killed_at_work(
    folder: RunFolder, servers: list[int], children: Callable[[int], list[int]]
) -> bool:
    """Kill the run of a folder once it has begun; False before."""
    at_work = [run for server in servers for run in children(server)]
    if not (folder.events.exists() and at_work):
        return False
    for run in at_work:
        os.kill(run, signal.SIGKILL)
    return True


def test_real_workers_survive_a_broken_job_and_name_the_signal_that_ended_a_run(
    tmp_path: Path, children: Callable[[int], list[int]], until: Callable[..., bool]
) -> None:
    no_backbone, no_job, killed = (RunFolder(tmp_path / name) for name in ("a", "b", "c"))
    (run,) = plan(Request(methods="lora", tasks="gsm8k"))
    no_backbone.create(
        *run.model_copy(update={"backbone_place": str(tmp_path / "moved away")}).kept
    )
    no_job.path.mkdir()
    killed.create(*run.kept)
    with LocalExecutor([Slot()]) as executor:
        executor.submit(Job((no_backbone, no_job, killed)))
        outcomes = executor.outcomes()
        first = next(outcomes)
        servers = children(os.getpid())
        second = next(outcomes)
        assert until(lambda: killed_at_work(killed, servers, children))
        same = children(os.getpid())
        third = next(outcomes)
    assert [one.status for one in (first, second, third)] == ["failed"] * 3
    assert "moved away" in reason(no_backbone)
    assert "spec.json" in reason(no_job)
    assert "SIGKILL" in reason(killed)
    assert servers == same, "the worker was replaced although only its runs failed"
