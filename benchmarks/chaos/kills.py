"""SIGKILLs at random moments: of the process of a run, of its worker, of the whole command."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from benchmarks.chaos import command, processes
from benchmarks.chaos.grid import RUNS, Grid
from benchmarks.chaos.rounds import Round
from harness.scheduling.executors.contract import Executor
from results.runfolder import attempts
from results.runfolder.events import read_new
from results.runfolder.folder import RunFolder

MOMENTS = {
    "load": 0.4,
    "adapt": 0.1,
    "train": 0.8,
    "checkpoint": 0.05,
    "validate": 0.1,
    "save": 0.1,
    "generate": 0.3,
    "contamination": 0.1,
    "score": 0.06,
    "finished": 0.05,
}
"""Phases of a run that a kill aims at, and within how many seconds of it the kill comes."""

OF_WORKERS = 0.1
"""The share of kills that the worker gets instead of the process that it forked for the run."""

START, STORED = 6.0, 0.1
"""Seconds within which a kill comes of the start of a command, and of a result, while it is
stored."""

WAIT, PAUSE = 1.2, 0.01
"""Seconds to wait for a phase, while runs are at work, before any will do; from look to look."""


@dataclass(frozen=True)
class AtWork:
    """A run at work: its folder, its process, and the worker that forked that."""

    folder: RunFolder
    pid: int
    worker: int

    @property
    def phase(self) -> str:
        """The phase that its attempt has begun last."""
        attempt = attempts.last(self.folder)
        events, _ = read_new(self.folder.events, 0)
        begun = [one.phase for one in events if attempt and one.time >= attempt.started]
        return next((one for one in reversed(begun) if one), "start")


def at_work(grid: Grid, place: Path, scheduler: int) -> Iterator[AtWork]:
    """Yield the runs at work below a scheduler's process."""
    workers = {
        child: one for one in processes.children(scheduler) for child in processes.children(one)
    }
    for folder in grid.folders(place):
        attempt = attempts.last(folder)
        if attempt and attempt.pid in workers:
            yield AtWork(folder, attempt.pid, workers[attempt.pid])


def seen(
    grid: Grid, place: Path, scheduler: int, phase: str, over: Callable[[], bool]
) -> AtWork | None:
    """Wait until a run is in a phase, or after a while in any, and give it; None if all is over."""
    looks = 0
    while not over():
        found = list(at_work(grid, place, scheduler))
        for one in found:
            if one.phase == phase or looks * PAUSE > WAIT:
                return one
        looks += bool(found)
        time.sleep(PAUSE)
    return None


def of_runs(grid: Grid, executor: Executor, most: int) -> Callable[[Random, Path], Round]:
    """Play grids of which this process is the scheduler, and runs and workers are killed."""

    def play(random: Random, place: Path) -> Round:
        done = Round()
        with _scheduled(grid, place, executor) as over:
            while not over.is_set() and done.counts["kills"] < most:
                _kill_a_run(random, grid, place, over, done)
        done.lost += grid.lost(place)
        return done

    return play


def _kill_a_run(
    random: Random, grid: Grid, place: Path, over: threading.Event, done: Round
) -> None:
    aim = random.choice(list(MOMENTS))
    found = seen(grid, place, os.getpid(), aim, over.is_set)
    if found is None:
        return
    time.sleep(random.uniform(0, MOMENTS[aim]))
    phase, of_worker = found.phase, random.random() < OF_WORKERS
    if processes.kill(found.worker if of_worker else found.pid):
        done.counts.update(["kills", f"of a {'worker' if of_worker else 'run'}", f"in {phase}"])


@contextmanager
def _scheduled(grid: Grid, place: Path, executor: Executor) -> Iterator[threading.Event]:
    """Run a grid in another thread; what it raises comes at the end."""
    over, raised = threading.Event(), []

    def work() -> None:
        try:
            grid.run(place, executor)
        except BaseException as error:
            raised.append(error)
        over.set()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield over
    finally:
        thread.join()
    if raised:
        raise raised[0]


def of_commands(grid: Grid, most: int) -> Callable[[Random, Path], Round]:
    """Play grids whose whole command is killed and given again, until one ends by itself."""

    def play(random: Random, place: Path) -> Round:
        done, below = Round(), list[int]()
        while True:
            running = command.start(place, grid.words())
            killed = done.counts["kills"] < most and _kill(random, grid, place, running.pid, done)
            below += killed or []
            ended = running.wait()
            if not killed:
                break
        if ended:
            done.lost.append(f"the command ended with {ended}: {command.last_line(place)}")
        if left := processes.left(below):
            done.lost.append(f"processes left behind: {left}")
        done.lost += grid.lost(place)
        return done

    return play


def _kill(random: Random, grid: Grid, place: Path, pid: int, done: Round) -> list[int]:
    """Kill a command, or with it all that it started; list its processes, none if it has ended."""
    aim = random.choice(["start", *MOMENTS, "stored"])
    when = _wait(random, grid, place, pid, aim)
    below, alone = processes.family(pid), random.random() < 1 / 2
    if not processes.kill(pid):
        return []
    for one in [] if alone else below:
        processes.kill(one)
    done.counts.update(["kills", when, "alone" if alone else "with what it started"])
    return below


def _wait(random: Random, grid: Grid, place: Path, pid: int, aim: str) -> str:
    """Wait for a moment, and say which it is."""
    if aim == "start":
        time.sleep(random.uniform(0, START))
        return "at the start"
    if aim == "stored":
        _next_result(place, pid)
        time.sleep(random.uniform(0, STORED))
        return "after a result"
    found = seen(grid, place, pid, aim, lambda: not processes.is_alive(pid))
    if found is None:
        return "at the end"
    time.sleep(random.uniform(0, MOMENTS[aim]))
    return f"in {found.phase}"


def _next_result(place: Path, pid: int) -> None:
    def results() -> int:
        return len(list((place / RUNS).glob("*/result.json")))

    before = results()
    while results() == before and processes.is_alive(pid):
        time.sleep(PAUSE)
