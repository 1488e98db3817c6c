"""What planned runs will take, by what finished runs of the store took."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.spec.planned import PlannedRun
from harness.spec.value import canonical
from results.analysis.runs.costs import EVALUATION
from results.record import Run

FREE = {"version", "lr", "betas", "weight_decay", "schedule", "warmup_ratio", "max_grad_norm"}
"""Fields of a recipe that change no cost."""


@dataclass(frozen=True)
class Estimate:
    """What a run will take.

    Attributes:
        least: Seconds, as the quickest run that tells of it.
        most: Seconds, as the slowest.
        memory: The most bytes of runs of its kind; None where it is scaled from other runs.
        devices: What those runs ran on.
    """

    least: float
    most: float
    memory: int | None
    devices: frozenset[str]


class History:
    """Finished runs by what they cost.

    A run is like another one if they agree in all that decides a cost: not in seed, fold, learning
    rate or source. Where there is none like it, those of its backbone and group, whatever their
    method and limits, are scaled by rows: by those trained on times epochs, and by those tested on.
    """

    def __init__(self, past: Iterable[Run]) -> None:
        self._like: dict[str, list[Run]] = defaultdict(list)
        self._near: dict[str, list[Run]] = defaultdict(list)
        for run in past:
            if run.spec and _is_whole(run):
                self._like[_like(run.spec)].append(run)
                self._near[_near(run.spec)].append(run)

    def estimate(self, planned: PlannedRun) -> Estimate | None:
        """Estimate a planned run; None where nothing finished tells of it."""
        spec = planned.spec.model_dump(mode="json")
        if like := self._like.get(_like(spec)):
            memory = max(run.peak_memory_bytes for run in like)
            return _range([(run, run.seconds["wall"]) for run in like], memory)
        near = self._near.get(_near(spec), [])
        telling = [run for run in near if run.adapter_bytes or not _trains(spec)]
        return _range([(run, _scaled(run, spec)) for run in telling], None)


def _range(found: list[tuple[Run, float]], memory: int | None) -> Estimate | None:
    if not found:
        return None
    seconds = [one for _, one in found]
    devices = frozenset(str(run.environment.get("device", "")) for run, _ in found)
    return Estimate(min(seconds), max(seconds), memory, devices)


def _is_whole(run: Run) -> bool:
    """Whether the seconds are of the whole run: an attempt that went on has not trained."""
    return "wall" in run.seconds and ("train" in run.seconds or not run.adapter_bytes)


def _like(spec: Mapping[str, Any]) -> str:
    left_out = {"seeds", "fold", "task_sources", "method", "train"}
    parts = {name: part for name, part in spec.items() if name not in left_out}
    train = {name: value for name, value in spec["train"].items() if name not in FREE}
    return canonical({**parts, "train": train, "method": _method(spec)})


def _method(spec: Mapping[str, Any]) -> list[Any]:
    return [spec["method"]["name"], spec["method"]["fields"]]


def _near(spec: Mapping[str, Any]) -> str:
    same = ("backbone", "group", "weights", "quantize", "protocol", "generate")
    return canonical([spec.get(name) for name in same] + [spec["train_data"]["sha256"]])


def _scaled(run: Run, spec: Mapping[str, Any]) -> float:
    """Scale the seconds of a run by the rows of another spec."""
    training = run.seconds.get("train", 0.0)
    evaluation = sum(run.seconds.get(phase, 0.0) for phase in EVALUATION)
    other = run.seconds["wall"] - training - evaluation
    if _trains(spec):
        training *= _trained_rows(spec) / _trained_rows(run.spec)
    else:
        training = 0.0
    return other + training + evaluation * _tested_rows(spec) / _tested_rows(run.spec)


def _trains(spec: Mapping[str, Any]) -> bool:
    return bool(spec["method"]["fields"])


def _trained_rows(spec: Mapping[str, Any]) -> int:
    rows: int = min(spec["train_data"]["rows"], spec["train_limit"] or spec["train_data"]["rows"])
    return rows * int(spec["train"]["epochs"])


def _tested_rows(spec: Mapping[str, Any]) -> int:
    limit = spec["limit"]
    return sum(min(test["rows"], limit or test["rows"]) for test in spec["tests"].values())
