"""Two runs at a time on one card, against one after the other."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.gpu.part import Part, Row, judged
from benchmarks.gpu.process import complaint, harness
from harness.scheduling.slots import visible_gpus
from results.record import Run
from results.store import Reader

METHODS = ("lora", "dypam")
SLOTS = ("1", "2")
RUNS = ("--tasks", "math")


def part(
    folder: Path, methods: Sequence[str] = METHODS, size: Sequence[str] = RUNS, per: str = "per-gpu"
) -> Part:
    """Describe the part.

    Args:
        folder: Of stores and run folders.
        methods: Two, a run each.
        size: The options that say how long the runs are.
        per: The option that takes the number of slots.
    """
    return Part(
        title="Two slots on one card",
        about="The runs of `make run`, one after the other and side by side. The seconds of the "
        "grid are from the start of its first run to the end of its last; equal losses mean that "
        "the runs did not disturb one another.",
        columns={
            "slots": "",
            "method": "",
            "run, s": ".1f",
            "grid, s": ".1f",
            "validation loss": ".6f",
        },
        items=lambda: SLOTS,
        measure=partial(_measure, folder, methods, size, per),
    )


def _measure(
    folder: Path, methods: Sequence[str], size: Sequence[str], per: str, slots: str, seconds: float
) -> list[Row]:
    room = folder / slots
    words = ["run", "--methods", ",".join(methods), *size, f"--{per}", slots]
    gpus = visible_gpus()
    one = {"CUDA_VISIBLE_DEVICES": gpus[0]} if gpus else {}
    done = harness([*words, "--runs", str(room / "runs")], room, seconds, **one)
    if done.returncode:
        return [{"slots": slots, "outcome": complaint(done)}]
    runs = Reader(room / "harness.db").runs(status="finished")
    spans = [_span(run) for run in runs]
    starts, ends = zip(*spans, strict=True)
    side_by_side = max(starts) < min(ends)
    outcome = judged(side_by_side == (slots != "1"), "not side by side")
    return [
        {
            "slots": slots,
            "method": run.method,
            "run, s": run.seconds["wall"],
            "grid, s": max(ends) - min(starts),
            "validation loss": run.validation_loss,
            "outcome": outcome,
        }
        for run in sorted(runs, key=lambda run: methods.index(run.method))
    ]


def _span(run: Run) -> tuple[float, float]:
    """Give start and end in seconds since the epoch."""
    start = run.started.timestamp()
    return start, start + run.seconds["wall"]
