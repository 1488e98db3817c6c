"""What `ray` makes of calls that fail, come late or cross one another, without a cluster."""

import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UserError
from harness.scheduling.executors.conformance.stand_in import BESIDE, COMMAND
from harness.scheduling.executors.contract import Executor, Job
from harness.scheduling.slots import Slot
from harness.scheduling.travel import Changes, Watch
from results.runfolder.folder import RunFolder
from tests.harness.scheduling.executors.ray_in_threads import RayInThreads

pytestmark = pytest.mark.parts

errors = pytest.importorskip("ray.exceptions")
from harness.scheduling.executors import ray as module  # noqa: E402 (an extra)

Make = Callable[[str, str], RunFolder]
Until = Callable[..., bool]

ERRORS = [
    (errors.ActorUnavailableError("no route", None), "vanished: .*no route"),
    (errors.ObjectLostError("ab", None, ""), "vanished: .*lost due to node failure"),
    (errors.OutOfDiskError("full"), "vanished: .*local disk's utilization"),
    (errors.RayTaskError("run", "OSError: no space", OSError()), "vanished: .*OSError: no space"),
    (errors.OutOfMemoryError("low"), "memory: .*the node has too little memory"),
]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> RayInThreads:
    found = RayInThreads(errors.ActorDiedError())
    monkeypatch.setattr(module, "ray", found)
    monkeypatch.setattr(module, "SECONDS", 0.05)
    return found


@pytest.fixture
def executor(cluster: RayInThreads) -> Iterator[Executor]:
    assert module.ray is cluster
    with module.RayExecutor([Slot(threads=1)], COMMAND) as made:
        yield made


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def made(name: str, act: str) -> RunFolder:
        folder = RunFolder(tmp_path / name)
        folder.path.mkdir()
        (folder.path / BESIDE).write_text(str(tmp_path))
        (folder.path / "act.py").write_text(act)
        return folder

    return made


def ended(executor: Executor) -> list[str]:
    return [outcome.status for outcome in executor.outcomes()]


@pytest.mark.parametrize(("error", "why"), ERRORS)
def test_a_run_that_ray_loses_has_failed_with_the_reason_and_is_at_work_nowhere(
    error: Exception,
    why: str,
    cluster: RayInThreads,
    executor: Executor,
    make: Make,
    until: Until,
) -> None:
    run = make("0", "reach('begun'); wait('never')")
    executor.submit(Job((run,)))
    assert until((run.path.parent / "begun").exists)
    cluster.errors["changes"] = error
    assert ended(executor) == ["failed"]
    failure = run.failure()
    assert failure
    assert re.search(why, f"{failure.kind}: {failure.reason}")
    assert len(cluster.killed) == 1
    executor.submit(Job((make("1", "finish()"),)))
    assert ended(executor) == ["finished"]


def test_an_actor_that_dies_while_it_is_placed_fails_one_run(
    cluster: RayInThreads, executor: Executor, make: Make
) -> None:
    cluster.errors |= {"ready": errors.ActorDiedError(), "run": errors.ActorDiedError()}
    for name in "01":
        executor.submit(Job((make(name, "finish()"),)))
    assert ended(executor) == ["failed", "finished"]


def test_a_run_whose_folder_is_still_on_its_way_stops_when_it_is_asked_to(
    cluster: RayInThreads, executor: Executor, make: Make
) -> None:
    begun, arrived = threading.Event(), threading.Event()

    def before(call: str) -> None:
        if call == "run":
            begun.set()
            arrived.wait(20)

    cluster.before = before
    run = make("0", "reach('begun'); work()")
    executor.submit(Job((run,)))
    assert begun.wait(20)
    assert executor.interrupt() == 1
    arrived.set()
    assert ended(executor) == ["cancelled"]


def test_a_look_that_crosses_the_end_of_a_run_tells_of_no_file_that_it_is_gone(
    make: Make, monkeypatch: pytest.MonkeyPatch, until: Until
) -> None:
    looking = threading.Event()
    told: list[Changes] = []

    class Slow(Watch):
        def changes(self) -> Changes:
            if threading.current_thread() is looker:
                looking.set()
                until(lambda: not self.folder.exists(), 0.5)
            return super().changes()

    monkeypatch.setattr(module, "Watch", Slow)
    run = make("0", "reach('begun'); wait('go'); finish()")
    host = module.Host(COMMAND, {})
    looker = threading.Thread(target=lambda: told.append(host.changes()))
    runner = threading.Thread(target=lambda: host.run("0", Watch(run.path).changes()))
    runner.start()
    assert until((run.path.parent / "begun").exists)
    looker.start()
    assert looking.wait(20)
    (run.path.parent / "go").touch()
    for thread in (looker, runner):
        thread.join()
    host.worker.end()
    assert not told[0].gone


def test_another_version_of_ray_is_told_with_both_versions(
    cluster: RayInThreads, monkeypatch: pytest.MonkeyPatch
) -> None:
    def init(**_: Any) -> None:
        raise RuntimeError("Version mismatch: ...\n    Ray: 2.50\n...\n    Ray: 2.60")

    monkeypatch.setattr(cluster, "is_initialized", lambda: False, raising=False)
    monkeypatch.setattr(cluster, "init", init, raising=False)
    with pytest.raises(UserError, match=r"(?s)cannot be used. Version .* 2\.50.* 2\.60"):
        module.connect(None)
