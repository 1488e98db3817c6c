"""What `slurm` makes of answers of Slurm, whose programs are scripts here."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.errors import UserError
from harness.scheduling import slurm_job
from harness.scheduling.executors.conformance.stand_in import RESULT
from harness.scheduling.executors.contract import Executor, Job
from harness.scheduling.slots import Slot
from harness.scheduling.slurm_job import NoAnswerError
from harness.spec.outcome import INTERRUPTED
from results.runfolder import attempts, wishes
from results.runfolder.folder import RunFolder
from results.runfolder.values import ClusterJob

pytestmark = pytest.mark.parts

Run = Callable[[], RunFolder]
Until = Callable[..., bool]

module: Any = pytest.importorskip("harness.scheduling.executors.slurm")

PROGRAMS = {
    "srun": "",
    "squeue": "cat queue",
    "scontrol": "echo JobState=$(cat state)",
    "scancel": "echo $1 >> ended",
    "sbatch": """
        if [ -s refusal ]; then cat refusal >&2; exit 1; fi
        echo one >> submitted
        number=$(wc -l < submitted)
        echo $number RUNNING >> queue
        echo Submitted batch job $number
    """,
}


class Slurm:
    """Slurm as these programs show it: jobs have the numbers 1, 2, 3 and run until they leave."""

    def __init__(self, place: Path) -> None:
        self.place = place
        for name in ("queue", "state", "refusal", "ended"):
            self.write(name, "")

    def write(self, name: str, text: str) -> None:
        (self.place / name).write_text(text)

    @property
    def ended(self) -> list[str]:
        """The jobs that were to end."""
        return (self.place / "ended").read_text().split()

    def leave(self, folder: RunFolder, state: str, exit_status: int | None = None) -> None:
        """Let the job of a folder leave the queue."""
        job = folder.cluster_job()
        assert job
        folder.write_cluster_job(ClusterJob(name=job.name, exit_status=exit_status))
        self.write("state", state)
        queue = (self.place / "queue").read_text().splitlines()
        self.write("queue", "".join(f"{one}\n" for one in queue if one.split()[0] != job.name))


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Slurm:
    place = tmp_path / "slurm"
    place.mkdir()
    for name, does in PROGRAMS.items():
        (place / name).write_text(f"#!/bin/sh\ncd {place}\n{does}\n")
        (place / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(place), prepend=os.pathsep)
    monkeypatch.setattr(module, "SECONDS", 0.01)
    monkeypatch.setattr(module, "PAUSE", 0.01)
    return Slurm(place)


@pytest.fixture
def executor(slurm: Slurm) -> Iterator[Executor]:
    with module.SlurmExecutor([Slot(threads=1)] * 2) as made:
        yield made
        slurm.write("queue", "")


@pytest.fixture
def run(slurm: Slurm, executor: Executor, tmp_path: Path, until: Until) -> Run:
    """Give a way to submit a run and wait until Slurm has it at work."""
    places = (tmp_path / "runs" / str(number) for number in range(9))

    def begun() -> RunFolder:
        folder = RunFolder(next(places))
        folder.path.mkdir(parents=True)
        job = Job((folder,))
        executor.submit(job)
        assert until(lambda: executor.state(job) == "running")
        return folder

    return begun


def ended(executor: Executor) -> list[str]:
    return [outcome.status for outcome in executor.outcomes()]


def name(folder: RunFolder) -> str:
    job = folder.cluster_job()
    assert job
    return job.name


@pytest.mark.parametrize("state", ["PREEMPTED", "TIMEOUT", "COMPLETED", ""])
def test_a_run_that_others_told_to_stop_is_submitted_again(
    state: str, slurm: Slurm, executor: Executor, run: Run, until: Until
) -> None:
    folder = run()
    slurm.leave(folder, state, INTERRUPTED)
    assert until(lambda: name(folder) == "2")
    folder.write_result(RESULT)
    slurm.leave(folder, "COMPLETED", 0)
    assert ended(executor) == ["finished"]
    assert not folder.failed


@pytest.mark.parametrize("exit_status", [INTERRUPTED, None])  # None: it had not started, or killed
def test_scancel_cancels_a_run_and_no_other(
    exit_status: int | None, slurm: Slurm, executor: Executor, run: Run
) -> None:
    cancelled, other = run(), run()
    slurm.leave(cancelled, "CANCELLED", exit_status)
    outcome = next(executor.outcomes())
    assert (outcome.folder, outcome.status) == (cancelled, "cancelled")
    # The grid goes on after a run that its user cancelled, and ends after one that was interrupted.
    assert wishes.is_cancelled(cancelled)
    assert not cancelled.failed
    other.write_result(RESULT)
    slurm.leave(other, "COMPLETED", 0)
    assert ended(executor) == ["finished"]
    assert not slurm.ended


def test_a_run_that_its_user_cancels_is_not_submitted_again(
    slurm: Slurm, executor: Executor, run: Run
) -> None:
    folder = run()
    wishes.cancel(folder)
    slurm.leave(folder, "COMPLETED", INTERRUPTED)
    assert ended(executor) == ["cancelled"]


@pytest.mark.parametrize("exit_status", [-9, None])
def test_a_job_that_is_out_of_memory_has_failed_for_want_of_memory(
    exit_status: int | None, slurm: Slurm, executor: Executor, run: Run
) -> None:
    folder = run()
    slurm.leave(folder, "OUT_OF_MEMORY", exit_status)
    assert ended(executor) == ["failed"]
    failure = folder.failure()
    assert failure
    assert failure.kind == "memory"


def test_what_slurm_said_of_a_job_is_the_reason_and_in_the_log(
    slurm: Slurm, executor: Executor, run: Run
) -> None:
    folder = run()
    said = "srun: Job step aborted\nslurmstepd: error: Exceeded job memory limit\n"
    (folder.path.parent / ".slurm" / f"{name(folder)}_0_log.err").write_text(said)
    slurm.leave(folder, "FAILED")
    assert ended(executor) == ["failed"]
    failure = folder.failure()
    assert failure
    assert "job 1: FAILED (slurmstepd: error: Exceeded job memory limit)" in failure.reason
    assert folder.log.read_text() == said


def test_a_run_whose_job_is_gone_and_which_another_process_has_is_elsewhere(
    slurm: Slurm, executor: Executor, run: Run
) -> None:
    folder = run()
    with folder.locked():
        slurm.leave(folder, "NODE_FAIL")
        assert ended(executor) == ["elsewhere"]
    assert not folder.failed


@pytest.mark.parametrize("exit_status", [None, 0, INTERRUPTED, -9])  # of the other job, so far
def test_news_of_a_job_after_which_another_command_submitted_the_run_says_nothing_of_it(
    exit_status: int | None, slurm: Slurm, executor: Executor, run: Run
) -> None:
    folder = run()
    attempt = attempts.begin(folder)
    folder.write_cluster_job(ClusterJob(name="77", exit_status=exit_status))
    slurm.write("state", "NODE_FAIL")
    slurm.write("queue", "")
    assert ended(executor) == ["elsewhere"]
    assert not folder.failed
    assert attempts.last(folder) == attempt


def test_jobs_that_slurm_refuses_for_now_are_submitted_later_and_disturb_no_other(
    slurm: Slurm, executor: Executor, run: Run, until: Until, tmp_path: Path
) -> None:
    first = run()
    slurm.write("refusal", "sbatch: error: Socket timed out on send/recv operation")
    second = RunFolder(tmp_path / "runs" / "second")
    second.path.mkdir()
    executor.submit(Job((second,)))
    first.write_result(RESULT)
    slurm.leave(first, "COMPLETED", 0)
    assert next(executor.outcomes()).status == "finished"
    assert not slurm.ended
    slurm.write("refusal", "")
    assert until(second.cluster_job)
    second.write_result(RESULT)
    slurm.leave(second, "COMPLETED", 0)
    assert ended(executor) == ["finished"]


def test_what_slurm_refuses_again_and_again_is_told_in_its_words(
    slurm: Slurm, executor: Executor, run: Run, tmp_path: Path
) -> None:
    first = run()
    slurm.write("refusal", "sbatch: error: invalid account")
    executor.submit(Job((RunFolder(tmp_path / "runs" / "second"),)))
    first.write_result(RESULT)
    slurm.leave(first, "COMPLETED", 0)
    outcomes = executor.outcomes()
    assert next(outcomes).status == "finished"
    with pytest.raises(UserError, match="refused the jobs: sbatch: error: invalid account"):
        next(outcomes)


def test_a_slurm_that_does_not_answer_is_waited_for_a_limited_time(
    slurm: Slurm, monkeypatch: pytest.MonkeyPatch
) -> None:
    (slurm.place / "squeue").write_text("#!/bin/sh\nexec sleep 60\n")
    monkeypatch.setattr(slurm_job, "ANSWERED", 0.1)
    with pytest.raises(NoAnswerError, match="timed out"):
        slurm_job.states()


IMPORT = "from harness.scheduling.slurm_job import Task"


def test_a_job_that_starts_again_has_no_exit_status_until_it_ends(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.write_cluster_job(ClusterJob(name="1", exit_status=INTERRUPTED))
    looks = f'Task(("grep", "-q", "null", "{tmp_path}/cluster.json"), ("{tmp_path}",), {{}})()'
    subprocess.run([sys.executable, "-c", f"{IMPORT}; {looks}"], check=True)
    assert folder.cluster_job() == ClusterJob(name="1", exit_status=0)  # grep has found it


def test_no_secret_of_the_environment_lies_in_what_is_submitted(
    slurm: Slurm, executor: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, until: Until
) -> None:
    monkeypatch.setenv("HF_TOKEN", "not-to-be-told")
    folder = RunFolder(tmp_path / "runs" / "0")
    folder.path.mkdir(parents=True)
    executor.submit(Job((folder,)))
    assert until(folder.cluster_job)
    kept = [path.read_bytes() for path in (tmp_path / "runs").rglob("*") if path.is_file()]
    assert len(kept) > 2  # a script, a pickle, the name of the job
    assert not any(b"not-to-be-told" in content for content in kept)
    folder.write_result(RESULT)
    slurm.leave(folder, "COMPLETED", 0)
    assert ended(executor) == ["finished"]
