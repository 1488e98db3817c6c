"""Runs that hang, on the stand-in of the worker, and that all else stays as the contract has it."""

from collections.abc import Callable, Sequence

import pytest

from harness.scheduling.executors.conformance.checks import CHECKS, Check
from harness.scheduling.executors.conformance.stand_in import COMMAND
from harness.scheduling.executors.conformance.trial import reason
from harness.scheduling.executors.contract import Executor, Job
from harness.scheduling.executors.local import LocalExecutor
from harness.scheduling.hangs import WithoutHangs
from harness.scheduling.slots import Slot
from results.runfolder.folder import RunFolder


def watched(slots: Sequence[Slot], command: Sequence[str]) -> Executor:
    return WithoutHangs(LocalExecutor(slots, command), limit=60)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_watching_for_hangs_keeps_the_contract(check: Check) -> None:
    check(watched)  # asserts


@pytest.fixture
def found(act: Callable[..., RunFolder]) -> tuple[dict[str, str], RunFolder]:
    """Run one that hangs, one behind it, and one that tells something every 0.1 s for 1.5 s."""
    hangs = act("print('waiting for a barrier', flush=True); wait('never')", "hangs")
    behind = act("finish()", "behind")
    alive = act(
        """
import time
for number in range(15):
    print(number, flush=True)
    time.sleep(0.1)
finish()
""",
        "alive",
    )
    with WithoutHangs(LocalExecutor([Slot()] * 2, COMMAND), limit=1) as executor:
        for folders in ((hangs, behind), (alive,)):
            executor.submit(Job(folders))
        return {one.folder.path.name: one.status for one in executor.outcomes()}, hangs


def test_a_run_that_tells_nothing_new_is_ended_alone(
    found: tuple[dict[str, str], RunFolder],
) -> None:
    statuses, _ = found
    assert statuses == {"hangs": "failed", "behind": "cancelled", "alive": "finished"}


def test_a_run_that_hung_fails_with_its_reason_and_the_end_of_its_log(
    found: tuple[dict[str, str], RunFolder],
) -> None:
    _, hangs = found
    failure = hangs.failure()
    assert failure
    assert failure.kind == "stalled"
    assert reason(hangs) == (
        "It hung: nothing new for 1 s (--stall); the last line of its log is: waiting for a barrier"
    )
