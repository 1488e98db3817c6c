"""A clock that is set back, a store that is locked: no run is lost."""

import os
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

from benchmarks.chaos import command
from benchmarks.chaos.grid import RUNS, STORE, Grid
from benchmarks.chaos.rounds import Round
from results.store import Store

CLOCK = """
import pathlib, time

offset, true = pathlib.Path(__file__).with_name("offset"), time.time
time.time = lambda: true() + float(offset.read_text() or 0)
"""
"""What Python runs first where it is called sitecustomize.py: programs read the time plus an offset
from then on. libfaketime, of Debian, ends `time.sleep` of Python 3.11 with an error."""

PAUSE = 0.05


def clock(grid: Grid) -> Callable[[Random, Path], Round]:
    """Set the clock back an hour while a grid runs; then give the command again."""

    def play(random: Random, place: Path) -> Round:
        site = place / "site"
        site.mkdir()
        (site / "sitecustomize.py").write_text(CLOCK)
        (site / "offset").write_text("0")
        path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
        running = command.start(place, grid.words(), PYTHONPATH=path)
        when_results(place, random.randrange(1, len(grid.ids)), running)
        (site / "offset").write_text("-3600")
        done = ended(grid, place, {"clocks set back": 1}, running.wait())
        again(grid, place, done, PYTHONPATH=path)
        return done

    return play


def locked_store(grid: Grid, seconds: float) -> Callable[[Random, Path], Round]:
    """Keep the store locked so long, from before the command or from its first result on."""

    def play(random: Random, place: Path) -> Round:
        late = random.random() < 1 / 2
        Store(place / STORE)
        with closing(sqlite3.connect(place / STORE, isolation_level=None)) as other:
            running = None
            if late:
                running = command.start(place, grid.words())
                when_results(place, 1, running)
            other.execute("BEGIN EXCLUSIVE")
            running = running or command.start(place, grid.words())
            time.sleep(seconds)
            other.execute("ROLLBACK")
        when = "in the middle" if late else "from the start"
        return ended(grid, place, {"locks": 1, when: 1}, running.wait())

    return play


def when_results(place: Path, count: int, running: command.Running[bytes]) -> None:
    """Wait until so many runs have a result, or the command has ended."""
    while len(list((place / RUNS).glob("*/result.json"))) < count and running.poll() is None:
        time.sleep(PAUSE)


def ended(grid: Grid, place: Path, counts: dict[str, int], status: int) -> Round:
    """Judge a command that has ended, and what its grid came to."""
    done = Round(Counter(counts))
    if status:
        done.lost.append(f"the command ended with {status}: {command.last_line(place)}")
    done.lost += grid.lost(place)
    return done


def again(grid: Grid, place: Path, done: Round, *before: str, **variables: str) -> None:
    """Give the command again, which should find all stored."""
    status, said = command.run(place, grid.words(), *before, **variables)
    if status or "stored before and not run again" not in said:
        done.lost.append(f"given again: {status}, {said}")
