"""Runs that are killed again and again while they answer and weigh, beside one left alone.

The processes are real: one worker forks them, so that none of them imports anything again.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from harness.planning.plan import plan
from harness.planning.request import Request
from harness.spec.outcome import INTERRUPTED
from results.runfolder import attempts
from results.runfolder.folder import RunFolder

KEPT = ("generations", "likelihoods", "verdicts")
TEXTS = ("protocol.max_new_tokens=12", "protocol.beams=2")
ROUNDS = ("generate.slots=false", "generate.round_tokens=3", "generate.batch_size=5")
CASES = {
    "slots, options beside": ("lora", "boolq", ()),
    "rounds, options as branches": ("base", "boolq", ROUNDS),
    "slots, options as texts": ("cascade:prefix-pooling[K_dct=200,K_wav=100,r=8]", "boolq", ()),
    "beams, references": ("base", "convai2", (*ROUNDS, *TEXTS)),
}
"""A method, a benchmark, settings: together all ways to answer and to weigh."""

QUICK = "slots, options beside"
"""The usual way; the others take as long each."""


class Worker:
    """A worker that serves folders one after the other, and the child that runs one of them."""

    def __init__(self, children: Callable[[int], list[int]]) -> None:
        command = [sys.executable, "-P", "-m", "harness.worker"]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
        self._children = children

    def run(self, folder: RunFolder, by: int = 0, at: Callable[[], bool] = lambda: False) -> int:
        """Run a folder; end the run by a signal as soon as something holds; give its status."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{folder.path}\n")
        self.process.stdin.flush()
        while by and not folder.ended and not at():
            time.sleep(0.001)
        if by and not folder.ended:
            (child,) = self._children(self.process.pid)
            os.kill(child, by)
        return int(self.process.stdout.readline())


@pytest.fixture(scope="module")
def worker(children: Callable[[int], list[int]]) -> Iterator[Worker]:
    one = Worker(children)
    with one.process:
        yield one
        one.process.communicate()


def made(path: Path, method: str, benchmark: str, settings: Sequence[str]) -> RunFolder:
    fast = ["train.epochs=1", "protocol.max_new_tokens=8", "memory.likelihood_tokens=600"]
    (planned,) = plan(
        Request(
            methods=method, tasks=benchmark, limit=45, train_limit=20, settings=[*fast, *settings]
        )
    )
    folder = RunFolder(path)
    folder.create(*planned.kept)
    return folder


def contents(folder: RunFolder) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder.path)): path.read_bytes()
        for kind in KEPT
        for path in (folder.path / kind).glob("*")
    }


def lines(folder: RunFolder) -> int:
    """Count what is kept of the benchmark that is answered or weighed."""
    count = 0
    for kind in KEPT:
        for path in (folder.path / kind).glob("*.partial.jsonl"):
            with suppress(FileNotFoundError):  # it has become the whole file
                count += path.read_bytes().count(b"\n")
    return count


@pytest.mark.parametrize(
    "by", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.parts)]
)
@pytest.mark.parametrize(
    "case",
    [case if case == QUICK else pytest.param(case, marks=pytest.mark.parts) for case in CASES],
)
def test_a_run_that_is_killed_in_the_middle_of_its_answers_ends_with_the_same_files(
    case: str, by: int, worker: Worker, tmp_path: Path
) -> None:
    whole, cut = (made(tmp_path / name, *CASES[case]) for name in ("whole", "cut"))
    assert worker.run(whole) == 0
    ended = []
    while not cut.finished:
        before = lines(cut)
        ended.append(worker.run(cut, by, lambda: lines(cut) > before + 10))  # noqa: B023
    assert ended[-1] == 0
    assert set(ended[:-1]) == {INTERRUPTED if by == signal.SIGTERM else -by}
    assert contents(cut) == contents(whole)
    results = cut.result(), whole.result()
    assert results[0]
    assert results[1]
    assert results[0].scores == results[1].scores
    tries = attempts.attempts(cut)
    for phase in ("generate", "likelihood"):
        spent = sum(one.seconds.get(phase, 0.0) for one in tries)
        assert results[0].seconds.get(phase, 0.0) == pytest.approx(spent)
        assert results[0].seconds["wall"] > spent
    assert results[0].peak_memory_bytes >= max(one.peak_memory_bytes for one in tries[:-1])
    if trained := cut.train_record():
        assert results[0].seconds.items() >= trained.seconds.items()


@pytest.mark.parts
def test_a_run_that_draws_noise_and_is_killed_in_its_answers_ends_with_the_same_files(
    worker: Worker, tmp_path: Path
) -> None:
    whole, cut = (made(tmp_path / name, "hycam:code", "boolq", ()) for name in ("whole", "cut"))
    assert worker.run(whole) == 0
    assert worker.run(cut, signal.SIGKILL, lambda: lines(cut) > 10) == -signal.SIGKILL
    assert cut.train_record()
    assert worker.run(cut) == 0
    assert contents(cut) == contents(whole)


def test_a_run_that_ends_in_another_environment_is_of_none_of_the_two(
    worker: Worker, tmp_path: Path
) -> None:
    folder = made(tmp_path / "run", *CASES["rounds, options as branches"])
    assert worker.run(folder, signal.SIGTERM, lambda: lines(folder) > 10) == INTERRUPTED
    here = folder.environment()
    assert here
    there = here.model_copy(update={"device": "another"})
    folder.write_environment(there)
    assert worker.run(folder) == 0
    result, ended = folder.result(), folder.environment()
    assert result
    assert ended
    assert ended.begun == f"on another by torch {here.torch} (environment {there.identity[:8]})"
    assert result.environment_id == ended.identity
    assert result.environment_id not in (here.identity, there.identity)
