"""`ray` on a real cluster of two nodes, started on this machine."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest

from benchmarks.chaos import command
from benchmarks.chaos.grid import Grid
from harness import plugins
from harness.errors import UserError
from harness.scheduling.executors.conformance.checks import CHECKS, Check
from harness.scheduling.executors.conformance.stand_in import COMMAND
from harness.scheduling.executors.contract import Executor, Job
from harness.scheduling.resources import Resources
from harness.scheduling.slots import Slot
from results.runfolder import wishes
from results.runfolder.attempts import attempts
from results.runfolder.folder import RunFolder

pytestmark = pytest.mark.parts

ray = pytest.importorskip("ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")

Until = Callable[..., bool]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    made = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
    made.add_node(num_cpus=2)
    yield made
    made.shutdown()


@pytest.fixture(scope="module")
def connected(cluster: Any) -> Iterator[None]:
    ray.init(address=cluster.address, log_to_driver=False)
    yield
    ray.shutdown()


def make(slots: Sequence[Slot], command: Sequence[str]) -> Executor:
    from harness.scheduling.executors.ray import RayExecutor  # noqa: PLC0415 (an extra)

    return RayExecutor(slots, command)


def asked(cluster: Any) -> list[str]:
    return ["--slots", "4", "--executor", "ray", "--address", cluster.address]


def workers(node: Any) -> list[psutil.Process]:
    """List the workers of the harness on a node."""
    (raylet,) = node.all_processes["raylet"]
    below = psutil.Process(raylet.process.pid).children(recursive=True)
    return [one for one in below if "harness.worker" in _command(one)]


def begun(grid: Grid, place: Path, node: Any) -> set[int]:
    """Give the processes of runs on a node of which the folders here know."""
    known = {one.pid for folder in grid.folders(place) for one in attempts(folder)}
    return known & {process.pid for process in workers(node)}


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@pytest.mark.usefixtures("connected")
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_ray_conforms(check: Check) -> None:
    check(make)  # asserts


KILLED_ON_ANOTHER_NODE = """
import os
from results.runfolder import attempts
attempts.keep(folder, attempts.last(folder).model_copy(update={"host": "node17"}))
os.kill(os.getpid(), 9)
"""


@pytest.mark.usefixtures("connected")
def test_a_run_that_is_killed_on_a_node_of_another_name_has_failed(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "0")
    folder.path.mkdir()
    (folder.path / "act.py").write_text(KILLED_ON_ANOTHER_NODE)
    with make([Slot(threads=1)], COMMAND) as executor:
        executor.submit(Job((folder,)))
        assert [outcome.status for outcome in executor.outcomes()] == ["failed"]
    failure = folder.failure()
    assert failure
    assert failure.kind == "vanished"


@pytest.mark.usefixtures("connected")
def test_what_no_node_has_is_refused_with_what_a_run_takes() -> None:
    with pytest.raises(UserError, match="a run takes 3 cpus, which no node of the cluster has"):
        plugins.executor("ray")(Resources(cpus_per_run=3))


@pytest.mark.usefixtures("connected")
def test_each_node_has_as_many_slots_as_runs_find_room_on_it() -> None:
    with plugins.executor("ray")(Resources(cpus_per_run=2)) as executor:
        assert len(executor.workers) == 2


def test_a_grid_runs_on_both_nodes_and_loses_no_run_with_one_of_them(
    cluster: Any, grid: Grid, tmp_path: Path, until: Until
) -> None:
    (other,) = cluster.worker_nodes
    running = command.start(tmp_path, [*grid.words(), *asked(cluster)])
    assert until(
        lambda: all(begun(grid, tmp_path, node) for node in (other, cluster.head_node)), 120
    )
    cluster.remove_node(other, allow_graceful=False)
    assert running.wait() == 0, command.last_line(tmp_path)
    assert not grid.lost(tmp_path)
    kinds = [[one.kind for one in attempts(folder)] for folder in grid.folders(tmp_path)]
    assert ["vanished", None] in kinds
    cluster.add_node(num_cpus=2)


def test_a_command_that_is_killed_goes_on_when_it_is_given_again(
    cluster: Any, grid: Grid, tmp_path: Path, training: Callable[[], bool]
) -> None:
    words = [*grid.words(), *asked(cluster)]
    first = command.start(tmp_path, words)
    assert training()
    first.kill()
    first.wait()
    status, printed = command.run(tmp_path, words)
    assert status == 0, printed
    assert not grid.lost(tmp_path)
    assert max(len(attempts(folder)) for folder in grid.folders(tmp_path)) == 2


def test_a_run_is_cancelled_on_its_node(
    cluster: Any, grid: Grid, tmp_path: Path, training: Callable[[], bool]
) -> None:
    running = command.start(tmp_path, [*grid.words(), *asked(cluster)])
    assert training()
    for folder in grid.folders(tmp_path):
        wishes.cancel(folder)
    running.wait()
    assert "were cancelled" in (tmp_path / command.OUTPUT).read_text()
    assert not all(folder.ended for folder in grid.folders(tmp_path))
