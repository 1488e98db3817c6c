"""How long the commands take that read a store of 20 runs, each in a fresh process."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from harness import plugins
from harness.planning.parse import PAPER_SEEDS
from results.record import Run, Score
from results.store import Store

HARNESS = Path(sys.executable).with_name("harness")
METHODS = ("dypam", "lora", "rosa", "vera")
COMMANDS = (
    *("table", "compare dypam lora", "history", "show {run}"),
    *("tasks", "data status --data ."),
)
ROUNDS = 5


def report() -> None:
    """Print the seconds of each reading command: the fastest of five, and the CPU time of it."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "harness.db")
        for run in runs():
            store.add(run)
        print(f"Commands that read a store of 20 runs, fastest of {ROUNDS}, {load()}:\n")
        print("| command | seconds | CPU seconds |\n| :--- | ---: | ---: |")
        for command in COMMANDS:
            wall, cpu = min(timed(command.format(run=run.run_id), folder) for _ in range(ROUNDS))
            print(f"| `harness {command.format(run='RUN')}` | {wall:.2f} | {cpu:.2f} |")


def runs() -> Iterator[Run]:
    """Make a run of the mathematics group for each method and seed, each a minute later."""
    begun = datetime(2026, 1, 1, tzinfo=UTC)
    for number, (method, seed) in enumerate(
        (method, seed) for method in METHODS for seed in PAPER_SEEDS
    ):
        scores = [
            Score(name, "accuracy", extractor, extractor == "strict", (number + 7) / 60, 60)
            for name in plugins.group("math").benchmarks
            for extractor in ("strict", "llm-adapters")
        ]
        yield Run(
            run_id=f"{number:016x}",
            status="finished",
            reason="",
            started=begun + timedelta(minutes=number),
            seconds={"train": 60.0, "wall": 70.0},
            group="math",
            method=method,
            backbone="tiny",
            seed=seed,
            fold=None,
            marks=(),
            flags=(),
            setting="setting",
            recipe="recipe",
            series=method,
            protocol="paper/2",
            spec={"train": {"lr": 1e-3}},
            provenance={},
            environment={"python": "3.11"},
            environment_id="environment",
            trainable_parameters=1,
            total_parameters=100,
            adapter_bytes=1,
            peak_memory_bytes=1,
            train_tokens_per_second=1.0,
            folder="",
            scores=tuple(scores),
        )


def timed(command: str, folder: str) -> tuple[float, float]:
    """Run a command in `folder`; return its wall-clock and CPU seconds."""
    before, start = cpu_seconds(), time.perf_counter()
    words = [os.fspath(HARNESS), *command.split()]
    subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start, cpu_seconds() - before


def cpu_seconds() -> float:
    """CPU seconds of all processes that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def load() -> str:
    """Describe what else the machine does."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
