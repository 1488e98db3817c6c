"""Memory and time of every method at the shape of Llama-3.2-3B, with random weights."""

import json
from collections.abc import Sequence

from benchmarks.gpu.part import Part, Row
from benchmarks.gpu.process import complaint, python
from harness import plugins

MODULE = "benchmarks.gpu.one_method"


def part(methods: Sequence[str] | None = None, module: str = MODULE) -> Part:
    """Describe the part; a method has a process of its own, whose end is only that of its row.

    Args:
        methods: Those to measure; all that train if None.
        module: What measures the method that it is given, and prints its row as JSON. It
            may print the row several times as it grows.
    """
    return Part(
        title="Every method at the shape of Llama-3.2-3B",
        about="Random weights in bfloat16; a step is two batches of 2 x 512 tokens, of which the "
        "second and third are timed; validation is 8 rows of 512; generation is 64 tokens after "
        "each of 32 prompts of 128. Memory is what torch allocated at most, beside what "
        "`harness/planning/footprint/` expects; time is beside that of an H200 at best.",
        columns={
            "method": "",
            "trained, M": ".2f",
            "adapt, s": ".1f",
            "step, s": ".3f",
            "step, of an H200": ".2f",
            "tokens/s": ".0f",
            "training, GB": ".1f",
            "training, of model": ".2f",
            "validation, GB": ".1f",
            "validation, of model": ".2f",
            "generation, GB": ".1f",
            "generation, of model": ".2f",
        },
        items=lambda: methods or [m for m in plugins.names("methods") if plugins.method(m).trains],
        measure=lambda method, seconds: [_measured(module, method, seconds)],
    )


def _measured(module: str, method: str, seconds: float) -> Row:
    done = python(["-m", module, method], seconds)
    found = [line for line in done.stdout.splitlines() if line.startswith("{")]
    row: Row = json.loads(found[-1]) if found else {}
    failed = {"outcome": complaint(done)} if done.returncode else {}
    return {"method": method, **row, **failed}
