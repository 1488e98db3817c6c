"""Trackers that users know, such as TensorBoard: a run tells them its losses and its scores.

They are those of Accelerate, at work in a thread of their own: one that fails or hangs costs the
run a line in its log.
"""

import math
import threading
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from queue import SimpleQueue
from types import TracebackType
from typing import Any

from accelerate import PartialState
from accelerate.tracking import LOGGER_TYPE_TO_CLASS

from harness.spec.planned import PlannedRun
from harness.worker.failing import reason_of
from results.record import Score
from results.runfolder.folder import RunFolder
from results.runfolder.locks import lock
from results.runfolder.values import Event
from results.texts import one_line

PATIENCE = 20.0
"""Seconds that a tracker has at the end of a run for what it was told."""

PROJECT = "peft-proving-ground"
"""What a tracker that keeps runs by projects, or experiments, calls ours."""

TOLD = {"loss", "auxiliary_loss", "validation_loss", "lr"}
"""What is told of an event."""


class Tracking(AbstractContextManager["Tracking"]):
    """Tells the tracker of a run, if it has one, what happens; on leaving, that this was all."""

    def __init__(self, planned: PlannedRun, folder: RunFolder) -> None:
        self._planned, self._folder = planned, folder
        self._told: SimpleQueue[tuple[Mapping[str, float], int] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._take, daemon=True)
        self._open = planned.track is not None
        if self._open:
            self._thread.start()

    def event(self, event: Event) -> None:
        """Tell the losses and the learning rate of a step."""
        if values := event.model_dump(include=TOLD, exclude_none=True):
            self._tell(values, event.step or 0)

    def scores(self, scores: Iterable[Score]) -> None:
        """Tell the scores that tables show."""
        trained = self._folder.train_record()
        values = {f"{one.benchmark}/{one.metric}": one.value for one in scores if one.headline}
        self._tell(values, trained.steps if trained else 0)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._open:
            self._told.put(None)
            self._thread.join(PATIENCE)
            if self._thread.is_alive():
                self._give_up(f"it was not done after {PATIENCE:.0f} s")

    def _tell(self, values: Mapping[str, float], step: int) -> None:
        if self._open:
            self._told.put((values, step))

    def _take(self) -> None:
        """Hand on what is told, in its order."""
        tracker = None
        try:
            while told := self._told.get():
                # Not before: the training's engine is to make the state of Accelerate.
                tracker = tracker or _started(self._planned, self._folder)
                values, step = told
                tracker.log(values, step=step)
            if tracker:
                tracker.finish()
        except Exception as error:  # whatever it is, the run goes on
            self._give_up(reason_of(error))

    def _give_up(self, why: str) -> None:
        if self._open:
            self._open = False
            track = self._planned.track
            print(f"{track} tracks this no further: {one_line(why)}", flush=True)


def _started(planned: PlannedRun, folder: RunFolder) -> Any:
    PartialState()  # without which no tracker works; that of the engine, if there was one
    head, path = planned.head, str(folder.path)
    arguments: Mapping[str, Mapping[str, Any]] = {
        "tensorboard": {"run_name": "tensorboard", "logging_dir": path},
        "wandb": {
            "run_name": PROJECT,
            "name": planned.name,
            "id": head.run_id,
            "resume": "allow",
            "dir": path,
        },
        "mlflow": {"experiment_name": PROJECT, "run_name": planned.name},
    }
    assert planned.track
    tracker = LOGGER_TYPE_TO_CLASS[planned.track](**arguments[planned.track])
    # MLflow fails where two runs make its tables at once; of the others, one that hangs is to hold
    # up no other.
    alone = planned.track == "mlflow"
    with lock(folder.path.parent, math.inf) if alone else nullcontext():
        tracker.start()
    named = {"run_id", "group", "method", "backbone", "seed", "fold", "protocol"}
    tracker.store_init_configuration(head.model_dump(include=named, exclude_none=True))
    return tracker
