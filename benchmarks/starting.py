"""How soon a grid starts, or says that it is done: first step, large plan, all stored."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.main_job import HARNESS
from benchmarks.reading import load
from harness import backbones
from harness.planning.plan import plan
from harness.planning.request import Request
from harness.scheduling import schedule
from harness.scheduling.executors.contract import ClosedError, Executor, Job, Outcome, State
from results.store import Store

ROUNDS = 3
TARGETS = {"step": 7.0, "plan": 2.0, "stored": 3.0}
SHORT = ("--limit", "2", "--train-limit", "20", "--set", "train.epochs=1")
FOLDERS = 5000


def report() -> None:
    """Print the seconds until the first step, and what a plan of thousands of runs takes."""
    steps = [until_the_first_step() for _ in range(ROUNDS)]
    print(f"Until something starts, {load()}:\n")
    print("| what | best | median | target |\n| :--- | ---: | ---: | ---: |")
    line("`harness run` until its first training step, seconds", steps, TARGETS["step"])
    clock, processor = zip(*of_a_stored_grid(), strict=True)
    line("`harness run` of a grid that is all stored, seconds", clock, TARGETS["stored"])
    line("the same, CPU seconds", processor)
    alone = [in_a_process_of_its_own() for _ in range(ROUNDS)]
    sizes, plans, firsts = zip(*alone, strict=True)
    line(f"plan of {sizes[0]:,} runs after the imports, CPU seconds", plans, TARGETS["plan"])
    line(f"planned {FOLDERS:,} runs until the first can start, seconds", firsts)


def line(what: str, found: Sequence[float], target: float | None = None) -> None:
    """Print a row of the table."""
    print(f"| {what} | {min(found):.2f} | {median(found):.2f} | {target or ''} |")


def until_the_first_step() -> float:
    """Start a grid of two runs on `tiny`; return the seconds until an event names a step."""
    with TemporaryDirectory() as room:
        started = time.time()
        command = [os.fspath(HARNESS), "run", "--methods", "dypam,lora", "--tasks", "math"]
        running = subprocess.Popen(command, cwd=room, stderr=subprocess.DEVNULL)
        try:
            while not (found := first_step(Path(room))):
                if running.poll() is not None:
                    raise RuntimeError(f"{command} ended before its first step")
                time.sleep(0.02)
        finally:
            running.send_signal(signal.SIGINT)
            running.wait()
    return found - started


def of_a_stored_grid() -> Iterator[tuple[float, float]]:
    """Run a short grid, then ask for it again; yield seconds and CPU seconds of each time."""
    command = [os.fspath(HARNESS), "run", "--methods", "dypam,lora", "--tasks", "math", *SHORT]
    with TemporaryDirectory() as room:
        subprocess.run(command, cwd=room, check=True, capture_output=True)
        for _ in range(ROUNDS):
            started, before = time.perf_counter(), os.times()
            subprocess.run(command, cwd=room, check=True, capture_output=True)
            after = os.times()
            spent = sum(after[2:4]) - sum(before[2:4])  # of child processes that have ended
            yield time.perf_counter() - started, spent


def first_step(room: Path) -> float | None:
    """Give the time of the first step among the events of all runs, if there was one."""
    found = []
    for events in room.glob("runs/*/events.jsonl"):
        for text in events.read_text().splitlines():
            with suppress(ValueError):  # a line that is being written
                event = json.loads(text)
                found += [event["time"]] * ("step" in event)
    return min(found, default=None)


def in_a_process_of_its_own() -> tuple[int, float, float]:
    """Measure a plan and its folders where nothing was counted before."""
    command = [sys.executable, "-c", "from benchmarks.starting import of_a_plan; of_a_plan()"]
    told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    runs, taken, first = json.loads(told)
    return runs, taken, first


def of_a_plan() -> None:
    """Print as JSON: runs, CPU seconds of the plan, seconds until the first run is submitted.

    All methods on four backbones of one shape and two groups with fifty seeds.
    """
    with TemporaryDirectory() as room:
        folders = [Path(room, f"tiny-{number}") for number in range(4)]
        for folder in folders:
            shutil.copytree(backbones.TINY, folder)
            (folder / "note.txt").write_text(folder.name)
        request = Request(
            methods="all",
            tasks="math,commonsense",
            backbones=",".join(map(str, folders)),
            seeds=",".join(map(str, range(50))),
        )
        started = time.process_time()
        planned = plan(request)
        taken = time.process_time() - started
        store, begun = Store(f"{room}/a.db"), time.perf_counter()
        with suppress(ClosedError):
            schedule.run(planned[:FOLDERS], store, Path(room, "runs"), Closed())
        first = time.perf_counter() - begun
    print(json.dumps([len(planned), taken, first]))


class Closed(Executor):
    """Takes no job."""

    def submit(self, job: Job) -> None:
        """Refuse it."""
        raise ClosedError

    def outcomes(self) -> Iterator[Outcome]:
        """End at once."""
        return iter(())

    def cancel(self, job: Job) -> None:
        """Nothing runs."""

    def state(self, job: Job) -> State:
        """Nothing runs."""
        return "waiting"

    def close(self) -> None:
        """Nothing runs."""
