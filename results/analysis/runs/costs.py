"""What runs cost: time, speed, memory and the size of what is saved."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from results.record import Run

EVALUATION = ("generate", "likelihood", "score")
"""The phases of a run after its training."""


@dataclass(frozen=True)
class Costs:
    """Of one run, or the mean over those of a row; None where no run tells."""

    training_seconds: float | None
    """Unknown of runs of before whose adapter an earlier attempt had trained."""
    evaluation_seconds: float | None
    tokens_per_second: float | None
    """In training, padding excluded."""
    peak_memory_bytes: float | None
    adapter_bytes: float | None


def costs(runs: Iterable[Run]) -> Costs:
    """Average what finished runs cost."""
    finished = [run for run in runs if run.status == "finished"]
    return Costs(
        training_seconds=_mean([run.seconds.get("train") for run in finished]),
        evaluation_seconds=_mean([_evaluation(run) for run in finished]),
        tokens_per_second=_mean([run.train_tokens_per_second or None for run in finished]),
        peak_memory_bytes=_mean([run.peak_memory_bytes for run in finished]),
        adapter_bytes=_mean([run.adapter_bytes for run in finished]),
    )


def _evaluation(run: Run) -> float | None:
    spent = [run.seconds[phase] for phase in EVALUATION if phase in run.seconds]
    return sum(spent) if spent else None


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
