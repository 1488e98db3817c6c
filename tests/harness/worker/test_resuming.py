"""Real worker processes whose training is ended by signals, and that go on from a checkpoint."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from harness.planning.plan import plan
from harness.planning.request import Request
from harness.spec.outcome import INTERRUPTED
from harness.worker.training.checkpoint import Checkpoints
from results.runfolder.events import losses, read_new
from results.runfolder.folder import RunFolder

STEPS = 18
"""36 rows in steps of 4, twice; validations after the steps 5, 9, 14 and 18."""

REQUEST: dict[str, Any] = {"tasks": "boolq", "limit": 4, "train_limit": 40, "checkpoint_minutes": 0}
SETTINGS = ["train.epochs=2", "protocol.max_new_tokens=4"]

HOOKED = (
    "adalora",
    "rosa",
    "loca",
    "flylora",
    "hycam",
    "hycam:code",
    "cascade:small",
    "riemoe_lora",
)
DEEPSPEED = ["train.engine=deepspeed"]


class Worker:
    """A worker that serves folders."""

    def __init__(self, children: Callable[[int], list[int]], until: Callable[..., bool]) -> None:
        self.children, self.until = children, until
        command = [sys.executable, "-P", "-m", "harness.worker"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self, folder: RunFolder, number: int = 0, after: int = 0) -> int:
        """Run a folder and return its status; send its process a signal after a step."""
        assert self.process.stdin
        assert self.process.stdout
        _, offset = read_new(folder.events, 0)
        self.process.stdin.write(f"{folder.path}\n")
        self.process.stdin.flush()
        if number:
            assert self.until(lambda: _reached(folder, offset, after), 200), folder.end_of_log()
            (child,) = self.children(self.process.pid)
            os.kill(child, number)
        return int(self.process.stdout.readline())


def _reached(folder: RunFolder, offset: int, step: int) -> bool:
    return any((one.step or 0) >= step for one in read_new(folder.events, offset)[0])


@pytest.fixture(scope="module")
def worker(children: Callable[[int], list[int]], until: Callable[..., bool]) -> Iterator[Worker]:
    one = Worker(children, until)
    yield one
    one.process.communicate(timeout=60)


def create(
    path: Path, methods: str, *settings: str, adapter: str = "float32", processes: int = 1
) -> RunFolder:
    given = [*SETTINGS, *settings]
    (planned,) = plan(Request(methods=methods, settings=given, gpus_per_run=processes, **REQUEST))
    spec = planned.spec.model_copy(update={"weights": adapter, "adapter": adapter})
    folder = RunFolder(path)
    folder.create(*planned.model_copy(update={"spec": spec}).kept)
    return folder


def came_to(folder: RunFolder) -> dict[str, Any]:
    """Return all that a run came to, its times aside."""
    result, trained = folder.result(), folder.train_record()
    assert result, folder.end_of_log()
    assert trained
    return {
        "adapter": (folder.adapter / "adapter_model.safetensors").read_bytes(),
        "training": trained.model_dump(exclude={"tokens_per_second", "peak_memory", "seconds"}),
        "method": folder.method_record(),
        "answers": folder.generations("boolq"),
        "likelihoods": folder.option_likelihoods("boolq"),
        "scores": result.scores,
        "losses": [
            one.model_dump(exclude={"time"}) for one in losses(read_new(folder.events, 0)[0])
        ],
    }


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.parts)])
def test_a_training_that_is_interrupted_and_killed_ends_as_one_that_is_not(
    worker: Worker, tmp_path: Path, processes: int
) -> None:
    # With dropout, for which each process draws numbers of its own.
    whole, cut = (
        create(tmp_path / name, "lora[lora_dropout=0.3]", processes=processes)
        for name in ("whole", "cut")
    )
    assert worker.run(whole) == 0
    assert worker.run(cut, signal.SIGTERM, after=3) == INTERRUPTED
    step = last_step(cut)
    assert not cut.failed
    kept = Checkpoints(cut.checkpoints, minutes=0).newest()
    assert kept
    assert kept[0] == step < STEPS
    assert worker.run(cut, signal.SIGKILL, after=step + 4) == -signal.SIGKILL
    assert last_step(cut) < STEPS
    assert worker.run(cut) == 0
    assert came_to(cut) == came_to(whole)
    assert not cut.checkpoints.exists()
    result, trained = cut.result(), cut.train_record()
    assert result
    assert trained
    assert result.seconds["train"] > kept[1]["spent"]["seconds"]["train"]
    assert trained.tokens_per_second == pytest.approx(trained.tokens / result.seconds["train"])


def last_step(folder: RunFolder) -> int:
    events, _ = read_new(folder.events, 0)
    return max(one.step or 0 for one in events)


@pytest.mark.parts
@pytest.mark.parametrize(
    ("method", "settings", "adapter", "processes"),
    [
        *((method, [], "float32", 1) for method in HOOKED),
        ("lora[dls=true]", ["train.packed=true"], "float32", 1),
        ("rosa", DEEPSPEED, "float32", 1),
        ("hycam", DEEPSPEED, "bfloat16", 1),
        ("cascade:small", [], "float32", 2),
        *(("rosa", [*DEEPSPEED, f"train.zero={zero}"], "float32", 2) for zero in (1, 2, 3)),
        ("hycam", [*DEEPSPEED, "train.zero=3"], "bfloat16", 2),
    ],
)
def test_killed_at_random_a_training_ends_as_one_that_is_not(
    worker: Worker,
    tmp_path: Path,
    method: str,
    settings: list[str],
    adapter: str,
    processes: int,
) -> None:
    if settings[:1] == DEEPSPEED and shutil.which("c++") is None:
        pytest.skip("needs a C++ compiler")
    whole, cut = (
        create(tmp_path / name, method, *settings, adapter=adapter, processes=processes)
        for name in ("whole", "cut")
    )
    assert worker.run(whole) == 0, whole.end_of_log()
    random = Random(f"{method} {settings}")
    for after in sorted(random.sample(range(1, STEPS - 1), 2)):
        number = random.choice([signal.SIGKILL, signal.SIGTERM])
        assert worker.run(cut, number, after) in (INTERRUPTED, -signal.SIGKILL)
    assert worker.run(cut) == 0, cut.end_of_log()
    assert came_to(cut) == came_to(whole)
