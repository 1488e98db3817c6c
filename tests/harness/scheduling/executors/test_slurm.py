"""`slurm` on a real cluster of one node, started on this machine from Debian's packages."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psutil
import pytest

from benchmarks.chaos import command
from benchmarks.chaos.grid import Grid
from harness.scheduling.executors.conformance import trial
from harness.scheduling.executors.conformance.checks import CHECKS, Check
from harness.scheduling.executors.conformance.stand_in import BESIDE, COMMAND
from harness.scheduling.executors.contract import Executor, Job
from harness.scheduling.slots import Slot
from results.runfolder import wishes
from results.runfolder.attempts import attempts
from results.runfolder.folder import RunFolder
from tests.harness.scheduling.executors import slurm_cluster

pytestmark = pytest.mark.parts

MINUTES = 10
SLOT = Slot(threads=1)

FOLLOWS = """
import sys
from pathlib import Path
from harness.scheduling.executors.conformance.stand_in import COMMAND
from harness.scheduling.executors.contract import Job
from harness.scheduling.executors.slurm import SlurmExecutor
from harness.scheduling.slots import Slot
from results.runfolder.folder import RunFolder

with SlurmExecutor([Slot(threads=1)], COMMAND, {"time": 10}) as executor:
    executor.submit(Job((RunFolder(Path(sys.argv[1])),)))
    print([outcome.status for outcome in executor.outcomes()])
"""

CUT = """
import time
from harness.worker import stopping
first = not (folder.path / "cut").exists()
(folder.path / "cut").touch()
while first:
    stopping.leave_if_asked()
    time.sleep(0.1)
finish()
"""


@pytest.fixture(scope="module", autouse=True)
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    pytest.importorskip("submitit")
    if missing := slurm_cluster.missing():
        pytest.skip(f"{', '.join(missing)} not installed: `make parts` does that")
    patch = pytest.MonkeyPatch()
    with slurm_cluster.cluster(tmp_path_factory.mktemp("slurm")) as found:
        for name, value in found.items():
            patch.setenv(name, value)
        yield
    patch.undo()


def make(slots: Sequence[Slot], words: Sequence[str], **options: int) -> Executor:
    from harness.scheduling.executors.slurm import SlurmExecutor  # noqa: PLC0415 (an extra)

    return SlurmExecutor(slots, words, {"time": MINUTES, **options})


@pytest.fixture
def folder(tmp_path: Path) -> Callable[[str], RunFolder]:
    def made(act: str) -> RunFolder:
        found = RunFolder(tmp_path / "0")
        found.path.mkdir()
        (found.path / BESIDE).write_text(str(tmp_path))
        (found.path / "act.py").write_text(act)
        return found

    return made


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_slurm_conforms(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    # Slurm looks at its queue once a second, and ends what does not stop after five.
    monkeypatch.setattr(trial, "SECONDS", 60)
    check(make)  # asserts


def test_a_run_goes_on_in_slurm_when_its_command_dies_and_the_same_command_follows_it(
    folder: Callable[[str], RunFolder],
) -> None:
    run = folder("reach('begun'); wait('go'); finish()")
    follows = [sys.executable, "-c", FOLLOWS, os.fspath(run.path)]
    first = subprocess.Popen(follows)
    until((run.path.parent / "begun").exists)
    first.send_signal(signal.SIGKILL)
    first.wait()
    second = subprocess.Popen(follows, stdout=subprocess.PIPE, text=True)
    time.sleep(5)
    (run.path.parent / "go").touch()
    told, _ = second.communicate(timeout=60)
    assert told == "['finished']\n"
    assert len(attempts(run)) == 1


def test_a_run_that_the_time_limit_cuts_stops_by_itself_and_goes_on_in_a_new_job(
    folder: Callable[[str], RunFolder],
) -> None:
    run = folder(CUT)
    with make([SLOT], COMMAND, time=1, signal_delay_s=30) as executor:
        executor.submit(Job((run,)))
        assert [outcome.status for outcome in executor.outcomes()] == ["finished"]
    assert [attempt.status for attempt in attempts(run)] == ["interrupted", "finished"]


def test_a_job_whose_processes_are_killed_leaves_its_reason(
    folder: Callable[[str], RunFolder],
) -> None:
    run = folder("reach('begun'); wait('never')")
    with make([SLOT], COMMAND) as executor:
        executor.submit(Job((run,)))
        until((run.path.parent / "begun").exists)
        worker = psutil.Process(attempts(run)[0].pid)
        for process in (worker.parent(), worker):
            assert process
            process.kill()
        assert [outcome.status for outcome in executor.outcomes()] == ["failed"]
    failure = run.failure()
    assert failure
    assert failure.kind == "vanished"
    assert "task 0: Killed" in failure.reason
    assert "task 0: Killed" in run.log.read_text()


@pytest.mark.parametrize("words", [(), ("--signal=KILL", "--full")])
def test_scancel_cancels_a_run_that_is_at_work_and_one_that_waits(
    words: Sequence[str], folder: Callable[[str], RunFolder], tmp_path: Path
) -> None:
    run = folder("reach('begun'); work()")
    behind = RunFolder(tmp_path / "1")
    behind.path.mkdir()
    with make([SLOT], COMMAND) as executor:
        for one in (run, behind):  # at once, so one array of which one task runs at a time
            executor.submit(Job((one,)))
        until((run.path.parent / "begun").exists)
        for one, how in ((behind, ()), (run, words)):
            job = one.cluster_job()
            assert job
            subprocess.run(["scancel", *how, job.name], check=True)
        assert [outcome.status for outcome in executor.outcomes()] == ["cancelled"] * 2
    assert all(map(wishes.is_cancelled, (run, behind)))
    assert not attempts(behind)


URGENT = "sbatch --partition=urgent --exclusive --output=/dev/null --wrap=hostname"


@pytest.mark.parametrize(
    ("words", "is_queued_again"),
    [("scancel --signal=TERM {job}", False), (URGENT, True)],
    ids=["told to stop from outside", "preempted"],
)
def test_a_run_goes_on_in_another_job_or_in_the_same_one_if_slurm_queues_it_again(
    words: str, is_queued_again: bool, folder: Callable[[str], RunFolder]
) -> None:
    run = folder(CUT)
    with make([SLOT], COMMAND) as executor:
        executor.submit(Job((run,)))
        until((run.path / "cut").exists)
        job = run.cluster_job()
        assert job
        subprocess.run(words.format(job=job.name).split(), check=True)
        assert [outcome.status for outcome in executor.outcomes()] == ["finished"]
    assert [attempt.status for attempt in attempts(run)] == ["interrupted", "finished"]
    last = run.cluster_job()
    assert last
    assert (last.name == job.name) == is_queued_again


def test_logging_out_leaves_a_grid_to_slurm_and_the_same_command_finds_what_it_came_to(
    grid: Grid, tmp_path: Path, training: Callable[[], bool]
) -> None:
    words = [*grid.words(), *("--executor", "slurm", "--partition", "main", "--time", "1h")]
    first = command.start(tmp_path, words)
    assert training()
    first.send_signal(signal.SIGHUP)
    assert first.wait() == 129
    assert "Left the runs to the cluster" in command.last_line(tmp_path)
    until(lambda: all(folder.finished for folder in grid.folders(tmp_path)))
    status, printed = command.run(tmp_path, words)
    assert status == 0, printed
    assert not grid.lost(tmp_path)
    assert [len(attempts(folder)) for folder in grid.folders(tmp_path)] == [1] * 4


def test_what_slurm_refuses_is_told_in_its_words(grid: Grid, tmp_path: Path) -> None:
    words = [*grid.words(), "--executor", "slurm", "--partition", "none"]
    status, printed = command.run(tmp_path, words)
    assert status == 2
    assert "Slurm refused the jobs" in printed
    assert "invalid partition specified: none" in printed
    assert "Traceback" not in printed


def until(true: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not true():
        assert time.monotonic() < end
        time.sleep(0.1)
