"""Files of run folders and store damaged in every way: mended, named or refused, nothing lost."""

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import redirect_stderr
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random

from benchmarks.chaos.grid import RUNS, STORE, Grid
from benchmarks.chaos.rounds import Round
from harness.commands.one_run.show import show
from harness.commands.reindex import reindex
from harness.errors import UserError
from harness.scheduling.executors.contract import Executor
from harness.scheduling.slots import Slot
from harness.worker.training.checkpoint import KEPT
from results.errors import ResultsError
from results.runfolder.events import read_new
from results.runfolder.folder import RunFolder
from results.runfolder.record_of import record_of
from results.runfolder.verdicts_of import verdicts_of
from results.store import Store


def _cut(path: Path, random: Random) -> None:
    os.truncate(path, random.randrange(max(1, path.stat().st_size)))


def _flip(path: Path, random: Random) -> None:
    found = bytearray(path.read_bytes())
    if found:
        found[random.randrange(len(found))] ^= 1 << random.randrange(8)
    path.write_bytes(found)


def _empty(path: Path, _: Random) -> None:
    os.truncate(path, 0)


def _remove(path: Path, _: Random) -> None:
    path.unlink()


def _replace(path: Path, _: Random) -> None:
    path.unlink()
    path.mkdir()


WAYS = {
    "cut short": _cut,
    "a bit flipped": _flip,
    "emptied": _empty,
    "removed": _remove,
    "replaced by a folder": _replace,
}

STATES = ("finished", "train", "generate")
"""How far the damaged run is: finished and stored, or killed in that phase."""


@dataclass(frozen=True)
class Places:
    """Grids of which the last run is in each of the states, to be copied and damaged.

    Attributes:
        grid: All of its other runs are finished and stored.
        folder: Where they are made when they are asked for first.
    """

    grid: Grid
    folder: Path

    @property
    def damaged(self) -> str:
        """The run whose files are damaged: one that trains, and keeps something of its method."""
        return self.grid.ids[-1]

    @cached_property
    def all(self) -> Mapping[str, Path]:
        """Folders of grids by state."""
        _ = self.grid.expected
        return {"finished": self.grid.folder, **{one: self._killed(one) for one in STATES[1:]}}

    def _killed(self, phase: str) -> Path:
        place = self.folder / phase
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.grid.folder / RUNS, place / RUNS)
        folder = self.grid.at(place, self.damaged)
        shutil.rmtree(folder.path)
        folder.create(*self.grid.planned[-1].kept)
        _run_until(folder, phase)
        store = Store(place / STORE)
        for one in self.grid.folders(place)[:-1]:
            record = record_of(one)
            assert record
            store.add(record, verdicts_of(one))
        return place


def _run_until(folder: RunFolder, phase: str) -> None:
    """Run a folder, and kill it in a phase; in training, with checkpoints."""
    words = [sys.executable, "-P", "-m", "harness.worker", str(folder.path)]
    worker = subprocess.Popen(words, env={**os.environ, **Slot(threads=1).environment})

    while phase not in {one.phase for one in read_new(folder.events, 0)[0]} or (
        phase == "train" and len([*folder.checkpoints.glob("[0-9]*")]) < KEPT
    ):
        assert worker.poll() is None, "the run ended before it was killed"
        time.sleep(0.01)
    worker.send_signal(signal.SIGKILL)
    worker.wait()


def of_files(places: Places, executor: Executor, damages: int) -> Callable[[Random, Path], Round]:
    """Play so many damages, each to a copy of a grid."""

    def play(random: Random, place: Path) -> Round:
        done = Round()
        for number in range(damages):
            copy = place / str(number)
            state = random.choice(STATES)
            shutil.copytree(places.all[state], copy)
            name, way = _damage(random, copy, places.damaged)
            found, why = Aftermath(places, copy, state, name, executor).found()
            done.counts.update(["damages", way, f"of a run: {state}", found])
            if found == LOST:
                done.lost.append(f"{number}, {state}, {name} {way}: {why}")
            else:
                shutil.rmtree(copy)
        return done

    return play


def _damage(random: Random, place: Path, run_id: str) -> tuple[str, str]:
    """Damage a file of the run or the store; return its name and the way."""
    root = place / RUNS / run_id
    kinds: dict[str, list[Path]] = {}
    for path in sorted(one for one in root.rglob("*") if one.is_file()):
        # Of equal sorts, such as attempts, no sort is likelier for having more files.
        kinds.setdefault(re.sub(r"\d+", "N", str(path.relative_to(root))), []).append(path)
    kinds |= {STORE: [place / STORE]}
    path, way = random.choice(kinds[random.choice(sorted(kinds))]), random.choice(list(WAYS))
    WAYS[way](path, random)
    return str(path.relative_to(place if path.name == STORE else root)), way


LOST = "lost"


@dataclass(frozen=True)
class Aftermath:
    """What the harness makes of a damage.

    Attributes:
        places: Where undamaged copies are.
        place: The damaged copy.
        state: Of the run.
        name: The damaged file below the run folder, or the store.
        executor: Where runs go on.
    """

    places: Places
    place: Path
    state: str
    name: str
    executor: Executor

    def found(self) -> tuple[str, str]:
        """Say what became of it, in a word, and what is not as it was."""
        before = self._content()
        said = self._run()
        if self.state == "finished" or self.name == STORE:
            # What was stored is there; now it has to come from the folders alone.
            if self.name != STORE:
                (self.place / STORE).unlink()
            said += reindex(str(self.place / STORE), self.place / RUNS).text + self._run()
        own = self.grid.differences(self.place, self.run_id)
        others = [one for one in self.grid.ids if one != self.run_id]
        lost = [line for one in others for line in self.grid.of_run(self.place, one)]
        stored = list(self.grid.of_store(self.place))
        if not (own or lost or stored):
            return ("without effect" if before == self._content() else "mended"), ""
        said += self._shown()
        what = f"{own} {lost} {stored}; said: {said}"
        named = Path(self.name).name in said
        return ("named" if named and not lost else LOST), what

    @property
    def grid(self) -> Grid:
        """The grid of which a run is damaged."""
        return self.places.grid

    @property
    def run_id(self) -> str:
        """The run that is damaged."""
        return self.places.damaged

    def _content(self) -> bytes | None:
        root = self.place if self.name == STORE else self.place / RUNS / self.run_id
        path = root / self.name
        return path.read_bytes() if path.is_file() else None

    def _run(self) -> str:
        """Run the grid; return what it said, or why it refused."""
        with redirect_stderr(io.StringIO()) as said:
            try:
                self.grid.run(self.place, self.executor)
            except (ResultsError, UserError, OSError) as error:
                return f"{said.getvalue()}{error}"
        return said.getvalue()

    def _shown(self) -> str:
        """Give what `harness show` says, and the log."""
        folder = self.grid.at(self.place, self.run_id)
        try:
            return (
                show(str(self.place / STORE), self.run_id, in_full=True).text + folder.end_of_log()
            )
        except (ResultsError, UserError) as error:
            return f"{error}{folder.end_of_log()}"
