"""Runs that hang, on the stand-in of the worker, and that all else stays as the contract has it."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from harness.scheduling import hangs
from harness.scheduling.executors.conformance.checks import CHECKS, Check
from harness.scheduling.executors.conformance.stand_in import COMMAND
from harness.scheduling.executors.conformance.trial import reason
from harness.scheduling.executors.contract import Executor, Job, State
from harness.scheduling.executors.local import LocalExecutor
from harness.scheduling.hangs import WithoutHangs
from harness.scheduling.slots import Slot
from harness.spec.outcome import INTERRUPTED
from results.runfolder import attempts
from results.runfolder.folder import RunFolder
from tests.harness.scheduling.in_turn import InTurn


def watched(slots: Sequence[Slot], command: Sequence[str]) -> Executor:
    return WithoutHangs(LocalExecutor(slots, command), limit=60)


@pytest.mark.parts
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


class Hanging(InTurn):
    """Its runs are at work until they are cancelled."""

    def __init__(self, until: Callable[..., bool]) -> None:
        super().__init__(lambda _: INTERRUPTED if until(lambda: self.cancelled) else 0)

    def state(self, job: Job) -> State:
        return "ended" if self.ended else "running"


def test_a_run_that_hung_and_that_another_process_has_by_now_is_left_to_it(
    tmp_path: Path, until: Callable[..., bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "RELEASED", 0.0)
    folder = RunFolder(tmp_path)
    with WithoutHangs(Hanging(until), limit=0.2) as executor, folder.locked():
        executor.submit(Job((folder,)))
        assert [outcome.status for outcome in executor.outcomes()] == ["elsewhere"]


def test_a_file_that_cannot_be_looked_at_has_told_nothing() -> None:
    assert hangs._told(RunFolder(Path("x" * 300))) == 0  # the system refuses a name so long
