"""`ray` on a real cluster of two nodes, started on this machine."""

from collections.abc import Iterator, Sequence

import pytest

from harness.scheduling.executors.conformance.checks import CHECKS, Check
from harness.scheduling.executors.contract import Executor
from harness.scheduling.slots import Slot

pytestmark = pytest.mark.parts

ray = pytest.importorskip("ray")

@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    from ray.cluster_utils import Cluster
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
    made.add_node(num_cpus=2)
    ray.init(address=made.address, log_to_driver=False)
    yield made.address
    ray.shutdown()
    made.shutdown()


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_ray_conforms(check: Check) -> None:
    from harness.scheduling.executors.ray import RayExecutor

    def make(slots: Sequence[Slot], command: Sequence[str]) -> Executor:
        return RayExecutor(slots, command)

    check(make)  # asserts
