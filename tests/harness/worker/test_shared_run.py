"""Whole runs of two processes on `tiny`: what one process has, and one folder written by rank 0."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from harness.planning.plan import plan
from harness.planning.request import Request
from results.runfolder.events import losses, read_new
from results.runfolder.folder import RunFolder
from results.runfolder.values import Event

SETTINGS = ["train.epochs=1", "protocol.max_new_tokens=4"]
ZERO_3 = ["train.engine=deepspeed", "train.zero=3"]


def made(path: Path, *settings: str, gpus_per_run: int = 2) -> RunFolder:
    request = Request(
        methods="lora",
        tasks="boolq",
        limit=6,
        train_limit=40,
        settings=[*SETTINGS, *settings],
        gpus_per_run=gpus_per_run,
    )
    (planned,) = plan(request)
    folder = RunFolder(path)
    folder.create(*planned.kept)
    return folder


def started(folder: RunFolder) -> "subprocess.Popen[str]":
    command = [sys.executable, "-P", "-m", "harness.worker", os.fspath(folder.path)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def work(folder: RunFolder) -> RunFolder:
    run = started(folder)
    printed, _ = run.communicate(timeout=280)
    assert run.returncode == 0, printed
    return folder


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return work(made(tmp_path_factory.mktemp("alone") / "run", gpus_per_run=1))


def curve(run: RunFolder) -> list[Event]:
    return losses(read_new(run.events, 0)[0])


def same(one: RunFolder, two: RunFolder) -> None:
    """Check that two runs trained, answered and scored alike."""
    first, second = one.train_record(), two.train_record()
    assert first
    assert second
    assert (second.steps, second.tokens) == (first.steps, first.tokens)
    # 9 steps, of which each rounds sums of float32 in another order.
    rounding = 9 * 2**-23 * first.best_validation_loss
    assert second.best_validation_loss == pytest.approx(first.best_validation_loss, abs=rounding)
    curves = [[one.loss or one.validation_loss for one in curve(run)] for run in (one, two)]
    assert len(curves[0]) > first.steps
    assert curves[1] == pytest.approx(curves[0], abs=rounding)
    weights = [load_file(run.adapter / "adapter_model.safetensors") for run in (one, two)]
    assert weights[0].keys() == weights[1].keys()
    assert all(torch.allclose(weights[0][key], weights[1][key], atol=1e-4) for key in weights[0])
    results = [run.result() for run in (one, two)]
    assert results[0]
    assert results[1]
    assert results[1].scores == results[0].scores
    assert results[1].trainable_parameters == results[0].trainable_parameters
    assert two.generations("boolq") == one.generations("boolq")


def test_two_processes_come_to_the_scores_of_one(alone: RunFolder, tmp_path: Path) -> None:
    two = work(made(tmp_path / "run"))
    same(alone, two)
    steps = [event.step for event in read_new(two.events, 0)[0] if event.of == 9]
    assert steps == [*range(1, 10)]  # by one rank alone


@pytest.mark.parts
@pytest.mark.skipif(shutil.which("c++") is None, reason="DeepSpeed compiles an operator")
@pytest.mark.parametrize("processes", [1, 2])
def test_zero_three_comes_to_the_scores_of_plain_torch(
    alone: RunFolder, tmp_path: Path, processes: int
) -> None:
    same(alone, work(made(tmp_path / "run", *ZERO_3, gpus_per_run=processes)))


@pytest.mark.parts
def test_a_rank_that_is_killed_fails_the_run_with_its_reason_and_leaves_no_process(
    tmp_path: Path,
    children: Callable[[int], list[int]],
    alive: Callable[[int], bool],
    until: Callable[..., bool],
    orphans: list[int],
) -> None:
    folder = made(tmp_path / "run", "train.epochs=500")
    run = started(folder)
    assert until(lambda: folder.events.exists() and '"step":2' in folder.events.read_text(), 200)
    orphans += children(run.pid)
    (rank,) = orphans
    os.kill(rank, signal.SIGKILL)
    run.communicate(timeout=100)
    failure = folder.failure()
    assert failure
    assert failure.reason == "VanishedError: rank 1 of 0 to 1 was ended by SIGKILL"
    assert failure.kind == "vanished"
    assert not alive(rank)
