"""Every method with three seeds, disturbed in all ways at once until the grid has finished."""

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

from benchmarks.chaos import command, processes
from benchmarks.chaos.grid import ENDLESSLY, Grid
from benchmarks.chaos.kills import AtWork, at_work
from benchmarks.chaos.rounds import Round
from harness.planning.request import Request
from results.runfolder import attempts

ALL = Request(
    methods="all", tasks="math", seeds="3", limit=10, train_limit=60, checkpoint_minutes=0.05
)
"""67 runs of 5 to 40 seconds; a checkpoint every three seconds."""

STOPPED = 6.0
"""Seconds for which a run is stopped, at most."""

LEAVE = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

WAYS = {
    "kill of a run": 20,
    "kill of a worker": 5,
    "stop of a run": 5,
    "kill of the command": 1,
    "kill of the command and what it started": 1,
    "signal to leave": 1,
    "second command": 1,
}
"""Ways to disturb, and how often each is drawn: a command that is given again has to plan first."""


def disturbed(grid: Grid, most: int, pause: float = 5.0) -> Callable[[Random, Path], Round]:
    """Play a grid whose command is given again, however it was ended, until it has finished.

    Args:
        grid: What is run.
        most: So many disturbances.
        pause: Seconds between two of them, in the mean.
    """
    return lambda random, place: _Play(random, grid, place).whole(most, pause)


class _Play:
    def __init__(self, random: Random, grid: Grid, place: Path) -> None:
        self._random, self._grid, self._place = random, grid, place
        self._done = Round()
        self._seen: set[tuple[Path, str]] = set()  # attempts, by folder and token
        self._commands: list[command.Running[bytes]] = []
        self._ended: set[int] = set()  # the commands that a disturbance ended
        self._ways: Mapping[str, Callable[[AtWork, command.Running[bytes]], bool]] = {
            "kill of a run": lambda run, _: processes.kill(run.pid),
            "kill of a worker": lambda run, _: processes.kill(run.worker),
            "stop of a run": lambda run, _: self._stop(run.pid),
            "kill of the command": lambda _, one: self._end(one, [one.pid]),
            "kill of the command and what it started": lambda _, one: self._end(
                one, processes.family(one.pid)
            ),
            "signal to leave": lambda _, one: self._leave(one),
            "second command": lambda *_: self._start_beside(),
        }

    def whole(self, most: int, pause: float) -> Round:
        """Play it, and compare what it comes to."""
        self._start()
        while self._commands:
            time.sleep(self._random.expovariate(1 / pause))
            if self._done.counts["disturbances"] < most:
                self._disturb()
            self._go_on()
        self._done.lost += [*self._grid.lost(self._place), *self._forgotten()]
        self._done.counts["attempts"] = sum(map(len, self._attempts().values()))
        return self._done

    def _start(self) -> None:
        words = [*self._grid.words(), "--retries", str(ENDLESSLY.retries)]
        self._commands.append(command.start(self._place, words))

    def _go_on(self) -> None:
        """Give the command again if none is left and none has come to its end by itself."""
        over = False
        for one in [one for one in self._commands if one.poll() is not None]:
            self._commands.remove(one)
            if one.pid in self._ended and one.returncode:
                continue
            over = True
            if one.returncode:
                last = command.last_line(self._place)
                self._done.lost.append(f"a command ended with {one.returncode}: {last}")
        if not self._commands and not over:
            self._start()

    def _disturb(self) -> None:
        way = self._random.choices([*WAYS], [*WAYS.values()])[0]
        chosen = self._random.choice(self._commands)
        found = list(self._at_work())
        if found and self._ways[way](self._random.choice(found), chosen):
            self._done.counts.update(["disturbances", way])

    def _at_work(self) -> Iterator[AtWork]:
        for one in self._commands:
            for run in at_work(self._grid, self._place, one.pid):
                attempt = attempts.last(run.folder)
                assert attempt
                self._seen.add((run.folder.path, attempt.token))
                yield run

    def _stop(self, pid: int) -> bool:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
            time.sleep(self._random.uniform(0, STOPPED))
            os.kill(pid, signal.SIGCONT)
            return True
        return False

    def _end(self, one: command.Running[bytes], pids: Sequence[int]) -> bool:
        self._ended.add(one.pid)
        return sum(map(processes.kill, pids)) > 0

    def _leave(self, one: command.Running[bytes]) -> bool:
        self._ended.add(one.pid)
        one.send_signal(self._random.choice(LEAVE))
        return True

    def _start_beside(self) -> bool:
        if len(self._commands) > 1:
            return False
        self._start()
        return True

    def _attempts(self) -> dict[Path, list[attempts.Attempt]]:
        return {one.path: attempts.attempts(one) for one in self._grid.folders(self._place)}

    def _forgotten(self) -> Iterator[str]:
        """Name the attempts that were seen at work, or came before another, and are not kept."""
        kept = self._attempts()
        tokens = {(path, one.token) for path, found in kept.items() for one in found}
        yield from (f"{path.name}: an attempt is gone" for path, _ in self._seen - tokens)
        for path, found in kept.items():
            numbers = [one.number for one in found]
            if numbers != list(range(1, len(found) + 1)):
                yield f"{path.name}: attempts {numbers}"
