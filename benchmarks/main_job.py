"""Where the seconds of the main job go, and how fast the command line starts."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HARNESS = Path(sys.executable).with_name("harness")
WORK = ("train", "validate", "generate", "score")


def report() -> None:
    """Time the main job, a grid of one run at a time, and the start of the command line."""
    with tempfile.TemporaryDirectory() as folder:
        wall, _ = timed(["run", "--methods", "dypam,lora", "--tasks", "math"], folder)
        print(f"The main job (dypam and lora, tiny, samples, one seed): {wall:.0f} s.\n")
        print(phases(Path(folder)))
    with tempfile.TemporaryDirectory() as folder:
        grid = ["run", "--methods", "lora", "--tasks", "math", "--seeds", "3", "--slots", "1"]
        timed(grid, folder)
        print(
            f"\nNot training, generating or scoring, second run on: {overhead(Path(folder)):.1%}."
        )
    helps = min(timed(["--help"], ".")[0] for _ in range(5))
    bare = min(seconds([sys.executable, "-c", "pass"], ".") for _ in range(5))
    print(f"\n`harness --help`: {helps:.2f} s, an empty Python process {bare:.2f} s.")


def timed(arguments: list[str], folder: str) -> tuple[float, str]:
    """Run a harness command in `folder`; return its seconds."""
    return seconds([os.fspath(HARNESS), *arguments], folder), folder


def seconds(command: list[str], folder: str) -> float:
    """Run a command and time it."""
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def results(folder: Path) -> list[dict[str, Any]]:
    """Read the results of all runs, in the order of their start."""
    found = [json.loads(path.read_text()) for path in folder.glob("runs/*/result.json")]
    labels = [
        json.loads((path.parent / "spec.json").read_text())["method"]["label"]
        for path in folder.glob("runs/*/result.json")
    ]
    return sorted(
        ({"label": label, **one} for label, one in zip(labels, found, strict=True)),
        key=lambda one: one["started"],
    )


def phases(folder: Path) -> str:
    """Tabulate the seconds of each phase of each run."""
    runs = results(folder)
    names = list(runs[0]["seconds"])
    lines = [f"| method | {' | '.join(names)} |", f"| :--- |{' ---: |' * len(names)}"]
    for run in runs:
        spent = " | ".join(f"{run['seconds'].get(name, 0.0):.1f}" for name in names)
        lines.append(f"| {run['label']} | {spent} |")
    return "\n".join(lines)


def overhead(folder: Path) -> float:
    """Share of the time between the end of the first run and the end of the last that is not work.

    The parent's share, between runs, is in it.
    """
    runs = results(folder)
    ends = [run["started"] + run["seconds"]["wall"] for run in runs]
    work = sum(run["seconds"].get(phase, 0.0) for run in runs[1:] for phase in WORK)
    return 1 - work / (ends[-1] - ends[0])
