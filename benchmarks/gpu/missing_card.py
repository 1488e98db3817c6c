"""A run that was planned for a GPU, in a worker that sees none: it fails at once."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.gpu.part import Part, Row, judged
from benchmarks.gpu.process import complaint, python
from harness.planning.plan import plan
from harness.planning.request import Request
from harness.spec.planned import PlannedRun
from results.runfolder.folder import RunFolder

NO_SUCH_CARD = "99"
REASON = "planned for a GPU"


def planned_here() -> PlannedRun:
    """Plan a run on this machine."""
    (found,) = plan(Request(methods="lora", tasks="gsm8k", limit=8))
    return found


def part(folder: Path, planned: Callable[[], PlannedRun] = planned_here) -> Part:
    """Describe the part."""
    return Part(
        title="A missing card",
        about=f"The worker of a planned run is started with CUDA_VISIBLE_DEVICES={NO_SUCH_CARD}.",
        columns={"run": "", "seconds until it failed": ".1f", "reason": ""},
        items=lambda: ["a wrong id"],
        measure=partial(_measure, folder, planned),
    )


def _measure(
    folder: Path, planned: Callable[[], PlannedRun], item: str, seconds: float
) -> list[Row]:
    run = planned()
    room = RunFolder(folder / run.spec.run_id)
    room.create(*run.kept)
    start = time.monotonic()
    words = ["-m", "harness.worker", str(room.path)]
    done = python(words, seconds, CUDA_VISIBLE_DEVICES=NO_SUCH_CARD)
    failure = room.failure()
    reason = failure.reason if failure else complaint(done)
    return [
        {
            "run": item,
            "seconds until it failed": time.monotonic() - start,
            "reason": reason,
            "outcome": judged(failure is not None and REASON in reason, "it did not fail so"),
        }
    ]
