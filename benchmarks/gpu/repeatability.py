"""Whether the same spec gives the same numbers again, in another store: `harness rerun`."""

import json
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.gpu.part import Part, Row, judged
from benchmarks.gpu.process import complaint, harness
from benchmarks.gpu.tiny import SHORT
from results.store import Reader

METHODS = ("lora", "dypam", "cascade:small")
"""Plain matrix products; the attention; gathers and scatters."""


def part(folder: Path, methods: Sequence[str] = METHODS, size: Sequence[str] = SHORT) -> Part:
    """Describe the part; `size` are the options that make the runs short."""
    return Part(
        title="Repeatability",
        about="A run, and its spec again in another store: adapter and answers to the last bit.",
        columns={"method": "", "adapter": "", "answers equal": ".0f", "answers": ".0f"},
        items=lambda: methods,
        measure=partial(_measure, folder, size),
    )


def _measure(folder: Path, size: Sequence[str], method: str, seconds: float) -> list[Row]:
    room = folder / method.replace(":", "-")
    words = ["run", "--methods", method, *size, "--runs", str(room / "runs")]
    end = time.monotonic() + seconds
    first = harness(words, room, seconds)
    if first.returncode:
        return [{"method": method, "outcome": complaint(first)}]
    (run,) = Reader(room / "harness.db").runs(status="finished")
    again = harness(["rerun", run.run_id, "--json"], room, end - time.monotonic())
    if not again.stdout:
        return [{"method": method, "outcome": complaint(again)}]
    found = json.loads(again.stdout)
    equal = sum(one["bit_equal"] for one in found["agreements"])
    items = equal + sum(one["same_answer"] + len(one["different"]) for one in found["agreements"])
    same = bool(found["adapter_equal"]) and equal == items
    return [
        {
            "method": method,
            "adapter": "equal" if found["adapter_equal"] else "different",
            "answers equal": equal,
            "answers": items,
            "outcome": judged(same, "not repeated"),
        }
    ]
