"""Two commands with the same grid at once: they share it, and no cell is finished twice."""

from collections.abc import Callable
from pathlib import Path
from random import Random

from benchmarks.chaos import command
from benchmarks.chaos.grid import Grid
from benchmarks.chaos.rounds import Round
from harness.planning.request import Request
from results.runfolder import attempts


def cells(count: int) -> Request:
    """Ask for so many runs of half a second."""
    seeds = ",".join(map(str, range(count + 1, 2 * count + 1)))  # a list, and not how many
    settings = ["train.epochs=1", "protocol.max_new_tokens=4"]
    return Request(
        methods="ia3", tasks="boolq", limit=1, train_limit=20, settings=settings, seeds=seeds
    )


def of_a_grid(grid: Grid) -> Callable[[Random, Path], Round]:
    """Give a grid to two commands."""

    def play(_: Random, place: Path) -> Round:
        done = Round()
        both = [command.start(place, grid.words()) for _ in range(2)]
        if any(statuses := [one.wait() for one in both]):
            done.lost.append(f"the commands ended with {statuses}: {command.last_line(place)}")
        done.lost += grid.lost(place)
        tried = [len(attempts.attempts(folder)) for folder in grid.folders(place)]
        done.counts.update({"cells": len(tried), "attempts": sum(tried)})
        return done

    return play
