"""`ray` on a real cluster of two nodes, started on this machine."""

from collections.abc import Iterator, Sequence

import pytest

from harness import plugins
from harness.scheduling.executors.conformance.checks import CHECKS, Check
from harness.scheduling.executors.contract import Executor
from harness.scheduling.slots import Slot

pytestmark = pytest.mark.parts

ray = pytest.importorskip("ray")
cluster_utils = pytest.importorskip("ray.cluster_utils")


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    made = cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
    made.add_node(num_cpus=2)
    ray.init(address=made.address, log_to_driver=False)
    yield
    ray.shutdown()
    made.shutdown()


def make(slots: Sequence[Slot], command: Sequence[str]) -> Executor:
    made: Executor = plugins.executor("ray")(slots, command)
    return made


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_ray_conforms(check: Check) -> None:
    check(make)  # asserts
