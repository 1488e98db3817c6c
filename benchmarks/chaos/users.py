"""Users who may not do all: a store that is read-only, and two users with their own umask."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

from benchmarks.chaos import command
from benchmarks.chaos.grid import STORE, Grid
from benchmarks.chaos.rounds import Round
from benchmarks.chaos.surroundings import again, ended, when_results
from results.store import Store

ROOT = os.geteuid() == 0
"""Whether programs can be started as other users; nothing is read-only for root itself."""

FIRST, SECOND, GROUP = 65533, 65534, 65534
"""Two users and the group of both, by number: they need no names."""

WITH_UMASK = ("sh", "-c", 'umask "$0"; exec "$@"')

REFUSED = 2

RUNS_ITSELF = "import subprocess, sys; subprocess.run([sys.executable, '-c', ''], check=True)"


def cannot() -> str:
    """Say why no program can be run as another user; nothing if it can."""
    if not ROOT:
        return "needs root"
    before, _ = _as(FIRST, Path())
    tried = subprocess.run(
        [*before, sys.executable, "-c", RUNS_ITSELF], capture_output=True, check=False
    )
    return "needs a Python that other users can run" if tried.returncode else ""


def _as(user: int, place: Path, umask: str = "022") -> tuple[tuple[str, ...], dict[str, str]]:
    """Give what starts a program as a user, and the variables that are the user's own."""
    own = ("setpriv", f"--reuid={user}", f"--regid={GROUP}", "--clear-groups") if ROOT else ()
    home = os.fspath(place / str(user))
    return (*own, *WITH_UMASK, umask), {"HOME": home, "XDG_CACHE_HOME": home}


def read_only_store(grid: Grid) -> Callable[[Random, Path], Round]:
    """Make the store read-only before a command, which is refused, and while another one runs."""

    def play(_: Random, place: Path) -> Round:
        store, (before, own) = place / STORE, _as(FIRST, place)
        Store(store)
        store.chmod(0o444)
        (place / command.OUTPUT).touch()
        place.chmod(0o555)
        status, said = command.run(place, grid.words(), *before, **own)
        named = f"{place}, {store} writable"
        refused = status == REFUSED and named in said and "Traceback" not in said
        store.chmod(0o644)
        place.chmod(0o777)
        store.unlink()
        running = command.start(place, grid.words(), *before, **own)
        when_results(place, 1, running)
        store.chmod(0o444)
        time.sleep(20)
        store.chmod(0o644)
        done = ended(grid, place, {"read-only stores": 2}, running.wait())
        if not refused:
            done.lost.append(f"not refused: {status}, {said}")
        again(grid, place, done, *before, **own)
        return done

    return play


def two_users(grid: Grid) -> Callable[[Random, Path], Round]:
    """Let two users share a grid by their group, and let one keep all to himself."""

    def play(random: Random, place: Path) -> Round:
        shared = random.random() < 1 / 2
        place.chmod(0o2777)
        if ROOT:
            os.chown(place, -1, GROUP)
        (mine, own), (others, theirs) = (
            _as(user, place, "002" if shared else "077") for user in (FIRST, SECOND)
        )
        half = Grid(replace(grid.request, methods="base,lora"), grid.folder).words()
        first, _ = command.run(place, half, *mine, **own)
        second, said = command.run(place, grid.words(), *others, **theirs)
        last, _ = command.run(place, grid.words(), *mine, **own)
        what = "one umask for the group" if shared else "one umask for each alone"
        done = ended(grid, place, {"grids of two users": 1, what: 1}, first or last)
        if (second if shared else second != REFUSED) or "Traceback" in said:
            done.lost.append(f"{what}: the second user's command ended with {second}: {said}")
        return done

    return play
