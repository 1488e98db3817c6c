"""A disk that is full while a grid runs, and has room again: no run is lost."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from benchmarks.chaos import command
from benchmarks.chaos.grid import Grid
from benchmarks.chaos.rounds import Round

LEAST, MOST = 100, 3000
"""KiB that a small disk has: for the first files, and for nearly all of the grid."""

ENOUGH = 200_000
"""KiB of the disk after that."""

LATER = 15.0
"""Seconds at most after which a full disk gets room again: while the grid runs, or after it."""

DISK = "disk"


def full(grid: Grid) -> Callable[[Random, Path], Round]:
    """Run a grid on a disk in memory that is too small, and gets larger once it was full."""

    def play(random: Random, place: Path) -> Round:
        done, disk = Round(), place / DISK
        disk.mkdir()
        size = random.randrange(LEAST, MOST)
        _mount(disk, f"size={size}k")
        try:
            running = command.start(place, grid.words(DISK))
            if _fills(disk, running):
                done.counts.update(["full disks"])
                time.sleep(random.uniform(0, LATER))
            _mount(disk, f"remount,size={ENOUGH}k")
            _finish(grid, place, running.wait(), done)
            done.lost += [f"{size} KiB: {line}" for line in grid.lost(disk)]
        finally:
            subprocess.run(["umount", disk], check=True)
        return done

    return play


def _fills(disk: Path, running: command.Running[bytes]) -> bool:
    """Wait until a disk has no room left, or the command has ended; say whether it was full."""
    while running.poll() is None:
        if os.statvfs(disk).f_bavail == 0:
            return True
        time.sleep(0.005)
    return running.returncode != 0


def _finish(grid: Grid, place: Path, status: int, done: Round) -> None:
    """Do what a user does: the same command again."""
    if status:
        done.counts.update(["the same command was needed"])
        status, _ = command.run(place, grid.words(DISK))
    said = (place / command.OUTPUT).read_text()
    if status or "Traceback" in said:
        done.lost.append(f"ended with {status}: {said[-2000:]}")


def _mount(disk: Path, options: str) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", disk], check=True)


def cannot() -> str:
    """Say why no disk can be made; nothing if it can."""
    if os.geteuid():
        return "needs root"
    tried = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)
    return "needs the right to mount" if tried.returncode else ""
