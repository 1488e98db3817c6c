"""Nodes that have other names than the machine of the command, without a cluster."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.scheduling.executors.contract import Job
from harness.scheduling.slots import Slot
from results.runfolder import attempts
from results.runfolder.folder import RunFolder
from results.runfolder.values import ClusterJob

pytestmark = pytest.mark.parts


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """Make a folder whose run is at work as job 7 on another machine."""
    found = RunFolder(tmp_path / "0")
    begun = attempts.begin(found)
    assert begun
    attempts.keep(found, begun.model_copy(update={"host": "node17"}))
    found.write_cluster_job(ClusterJob(name="7"))
    return found


@pytest.fixture
def queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the file that stands for the queue of Slurm, which knows that a node failed."""
    found = tmp_path / "queue"
    for name, does in {"squeue": f"cat {found}", "scontrol": "echo JobState=NODE_FAIL"}.items():
        program = tmp_path / "programs" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\n{does}\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "programs"), prepend=":")
    return found


@pytest.mark.parametrize(
    ("exit_status", "why"), [(None, "Slurm ended job 7: NODE_FAIL"), (-9, "ended by SIGKILL")]
)
def test_a_job_that_left_the_queue_of_slurm_without_an_end_has_failed(
    exit_status: int | None,
    why: str,
    folder: RunFolder,
    queue: Path,
    monkeypatch: pytest.MonkeyPatch,
    until: Callable[..., bool],
) -> None:
    pytest.importorskip("submitit")
    from harness.scheduling.executors import slurm  # noqa: PLC0415 (an extra)

    monkeypatch.setattr(slurm, "SECONDS", 0.01)
    queue.write_text("7 RUNNING\n")
    with slurm.SlurmExecutor([Slot(threads=1)]) as executor:
        job = Job((folder,))
        executor.submit(job)
        assert until(lambda: executor.state(job) == "running")
        folder.write_cluster_job(ClusterJob(name="7", exit_status=exit_status))
        queue.write_text("")
        assert [outcome.status for outcome in executor.outcomes()] == ["failed"]
    failure, attempt = folder.failure(), attempts.last(folder)
    assert failure
    assert attempt
    assert (failure.kind, attempt.status) == ("vanished", "failed")
    assert why in failure.reason


def test_a_run_whose_node_of_ray_is_lost_has_failed(folder: RunFolder) -> None:
    errors = pytest.importorskip("ray.exceptions")
    from harness.scheduling.executors.ray import RayWorker  # noqa: PLC0415 (an extra)

    RayWorker([], Slot(), {})._lost(folder, errors.RayActorError())
    failure = folder.failure()
    assert failure
    assert failure.kind == "vanished"
