"""Every method on `tiny` in bfloat16, under an engine: whole runs by `harness run`."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.gpu.part import Part, Row, judged
from benchmarks.gpu.process import complaint, harness
from harness import plugins
from results.record import Run
from results.store import Reader

ENGINES = ("torch", "deepspeed")
SHORT = ("--tasks", "gsm8k", "--limit", "8", "--train-limit", "80")


def part(
    folder: Path,
    methods: Sequence[str] | None = None,
    size: Sequence[str] = SHORT,
    weights: str = "bfloat16",
) -> Part:
    """Describe the part.

    Args:
        folder: Of stores and run folders.
        methods: As `harness run` takes them; all that train if None.
        size: The options that make the runs short.
        weights: The precision that the machine should choose.
    """
    return Part(
        title="Every method on `tiny`",
        about="A run each on 72 generated rows; answers to 8. Memory is what torch allocated at "
        "most. Methods that are not the same under DeepSpeed are left out there.",
        columns={
            "method": "",
            "engine": "",
            "weights": "",
            "adapter": "",
            "validation loss": ".3f",
            "training, s": ".1f",
            "memory, MB": ".0f",
        },
        items=lambda: ENGINES,
        measure=partial(_measure, folder, methods or small_methods(), size, weights),
    )


def small_methods() -> list[str]:
    """List the methods that train, in the variant for small layers where there is one."""
    found = {name: plugins.method(name) for name in plugins.names("methods")}
    return [
        f"{name}:small" if "small" in method.variants else name
        for name, method in found.items()
        if method.trains
    ]


def _measure(
    folder: Path,
    methods: Sequence[str],
    size: Sequence[str],
    weights: str,
    engine: str,
    seconds: float,
) -> list[Row]:
    room = folder / engine
    fit = [one for one in methods if engine == "torch" or _zero_safe(one)]
    words = ["run", "--methods", ",".join(fit), *size, "--set", f"train.engine={engine}"]
    done = harness([*words, "--runs", str(room / "runs")], room, seconds)
    if not (room / "harness.db").exists():
        return [{"method": "all", "engine": engine, "outcome": complaint(done)}]
    newest_last = reversed(Reader(room / "harness.db").runs())
    runs = {run.method: run for run in newest_last}
    return [{"method": one, "engine": engine, **_row(runs.get(one), weights)} for one in fit]


def _zero_safe(method: str) -> bool:
    return plugins.method(method.partition(":")[0]).zero_safe


def _row(run: Run | None, weights: str) -> Row:
    if run is None:
        return {"outcome": "no run"}
    as_meant = run.status == "finished" and run.spec["weights"] == weights
    return {
        "weights": run.spec["weights"],
        "adapter": run.spec["adapter"],
        "validation loss": run.validation_loss,
        "training, s": run.seconds.get("train"),
        "memory, MB": run.peak_memory_bytes / 1e6,
        "outcome": judged(as_meant, run.reason or f"{run.status} in {run.spec['weights']}"),
    }
