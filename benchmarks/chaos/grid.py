"""A small grid on `tiny`, what it comes to undisturbed, and what a disturbed one lacks of that."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from harness.planning.plan import plan
from harness.planning.request import Request
from harness.scheduling import schedule
from harness.scheduling.executors.contract import Executor
from harness.scheduling.executors.local import LocalExecutor
from harness.scheduling.policy import Policy
from harness.scheduling.slots import Slot
from harness.spec.planned import PlannedRun
from results.errors import ResultsError
from results.runfolder import attempts
from results.runfolder.events import losses, read_new
from results.runfolder.folder import RunFolder
from results.store import Reader, Store

SMALL = Request(
    methods="base,lora,adalora,rosa",
    tasks="boolq",
    limit=12,
    train_limit=40,
    settings=["train.epochs=2", "protocol.max_new_tokens=4"],
    checkpoint_minutes=0,
)
"""Four runs of a second or two: 18 steps with a checkpoint after each, 12 answers."""

ENDLESSLY = Policy(retries=1_000_000)
STORE, RUNS = "harness.db", "runs"

CameTo = Mapping[str, Any]
"""What a run came to, its times aside."""


@dataclass(frozen=True)
class Grid:
    """The runs of a request, and how they come out undisturbed.

    Attributes:
        request: What is asked for.
        folder: Where they run undisturbed, by the program as it is now.
    """

    request: Request
    folder: Path

    @cached_property
    def planned(self) -> Sequence[PlannedRun]:
        """The runs."""
        return plan(self.request)

    @cached_property
    def ids(self) -> list[str]:
        """Their ids."""
        return [one.spec.run_id for one in self.planned]

    @cached_property
    def expected(self) -> Mapping[str, CameTo]:
        """What each comes to; they are run when this is asked for first."""
        with slots() as executor:
            self.run(self.folder, executor)
        return {one: came_to(self.at(self.folder, one)) for one in self.ids}

    def at(self, place: Path, run_id: str) -> RunFolder:
        """Give the folder of a run."""
        return RunFolder(place / RUNS / run_id)

    def folders(self, place: Path) -> list[RunFolder]:
        """Give the folders of all runs."""
        return [self.at(place, one) for one in self.ids]

    def run(self, place: Path, executor: Executor) -> schedule.Summary:
        """Run what is not stored yet, with store and run folders in `place`."""
        place.mkdir(exist_ok=True)
        store = Store(place / STORE)
        return schedule.run(self.planned, store, place / RUNS, executor, ENDLESSLY)

    def words(self, folder: str = ".") -> list[str]:
        """Give what the program is given to run it, with store and run folders in a folder."""
        places = ["--store", f"{folder}/{STORE}", "--runs", f"{folder}/{RUNS}"]
        return [*self.request.command[1:], "--slots", "2", *places]

    def lost(self, place: Path) -> list[str]:
        """Say what is not as it should be in `place`, where all runs should have finished."""
        found = [f"{one}: {line}" for one in self.ids for line in self.of_run(place, one)]
        return [*found, *self.of_store(place)]

    def of_run(self, place: Path, run_id: str) -> Iterator[str]:
        """Say what is not as it should be of a run by its folder: other numbers, or two ends."""
        yield from self.differences(place, run_id)
        folder = self.at(place, run_id)
        ended = [one.status for one in attempts.attempts(folder)].count("finished")
        events = [one.phase for one in read_new(folder.events, 0)[0]].count("finished")
        if max(ended, events) > 1:
            yield f"finished {max(ended, events)} times"

    def differences(self, place: Path, run_id: str) -> list[str]:
        """Say in what a run came to something else than undisturbed."""
        try:
            come, expected = came_to(self.at(place, run_id)), self.expected[run_id]
        except (ResultsError, OSError) as error:
            return [str(error)]
        return [f"another {what}" for what in expected if come[what] != expected[what]]

    def of_store(self, place: Path) -> Iterator[str]:
        """Say what is not as it should be of the store: each run finished once, with its scores."""
        try:
            runs = Reader(place / STORE).runs()
        except ResultsError as error:
            yield str(error)
            return
        finished = [run for run in runs if run.status == "finished"]
        if (times := Counter(run.run_id for run in finished)) != dict.fromkeys(self.ids, 1):
            yield f"finished in the store: {dict(times)}"
        for run in finished:
            expected = {tuple(one) for one in self.expected[run.run_id]["scores"]}
            if {
                (one.benchmark, one.metric, one.extractor, one.value) for one in run.scores
            } != expected:
                yield f"{run.run_id}: other scores in the store"


def slots(count: int = 2) -> LocalExecutor:
    """Give an executor of so many slots of one thread, whatever this machine has."""
    return LocalExecutor([Slot(threads=1)] * count)


def came_to(folder: RunFolder) -> CameTo:
    """Read what a run came to.

    Raises:
        RunFolderError: A file is damaged.
        OSError: There is none.
    """
    result, trained = folder.result(), folder.train_record()
    made = sorted(folder.path.glob("*/*.jsonl*"))
    weights = [*made, *folder.adapter.glob("*.safetensors")]
    curve = losses(read_new(folder.events, 0)[0])
    return {
        "scores": [[one.benchmark, one.metric, one.extractor, one.value] for one in result.scores]
        if result
        else "no result",
        "training": trained
        and trained.model_dump(exclude={"tokens_per_second", "peak_memory", "seconds"}),
        "loss": [(one.step, one.loss, one.validation_loss) for one in curve],
        "files": {
            str(path.relative_to(folder.path)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in weights
        },
    }
