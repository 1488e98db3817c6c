"""Whether packed training moves scores: five methods with five seeds on `tiny`, both ways.

`python -m benchmarks packed-scores FOLDER` runs what is not in FOLDER yet, on the samples of math,
and prints micro averages: 50 runs, about 20 minutes on two cores. Options of `harness run` may
follow, such as `--seeds 2 --limit 10`.
"""

import json
import os
import subprocess
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from benchmarks.main_job import HARNESS
from results.statistics.seeds.welch import welch
from results.statistics.test import Undefined

METHODS = "lora,dypam,rosa,smoa,ia3"

BySeed = dict[int, float]


def report(folder: str, *options: str) -> int:
    """Run the grid both ways and print it; return 1 if the scores of a method differ.

    Args:
        folder: Where runs and store are; what is there is not run again.
        options: Of `harness run`; those that come twice count as they come last.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    grid = ["run", "--methods", METHODS, "--tasks", "math", "--seeds", "5", *options]
    samples = {name: value for name, value in os.environ.items() if name != "HARNESS_DATA"}
    for packed in ("false", "true"):
        way = ["--set", f"train.packed={packed}"]
        subprocess.run([os.fspath(HARNESS), *grid, *way], cwd=folder, check=True, env=samples)
    padded, packed = scores(Path(folder))
    print("\nMicro averages in percent, mean ± SD over seeds:\n")
    print("| method | padded | packed | difference, 95 % | p | seeds: padded, packed |")
    print("| :--- | ---: | ---: | ---: | ---: | :--- |")
    differ = [line(name, padded[name], packed[name]) for name in packed]
    return int(any(differ))


def scores(folder: Path) -> tuple[dict[str, BySeed], dict[str, BySeed]]:
    """Read the micro averages of padded and of packed runs, by method and seed."""
    found: tuple[dict[str, BySeed], ...] = (defaultdict(dict), defaultdict(dict))
    listed = subprocess.run(
        [os.fspath(HARNESS), "history", "--json"], cwd=folder, check=True, capture_output=True
    )
    for run in json.loads(listed.stdout):
        if run["status"] == "finished":
            by_method = found[_packed(folder, run)]
            by_method[run["label"]][run["seed"]] = 100 * run["overall"]["value"]
    return found[0], found[1]


def _packed(folder: Path, run: Mapping[str, Any]) -> bool:
    spec = json.loads((folder / "runs" / run["run_id"] / "spec.json").read_text())
    return bool(spec["train"].get("packed", False))


def line(method: str, padded: BySeed, packed: BySeed) -> bool:
    """Print the scores of a method; return whether Welch's test at 5 % tells the two ways apart."""
    test = welch(packed, padded)
    seeds = ", ".join(f"{seed}: {padded[seed]:.2f}, {packed[seed]:.2f}" for seed in sorted(packed))
    if isinstance(test, Undefined):
        found, p, differs = test.reason, "-", padded != packed
    else:
        assert test.interval
        low, high = test.interval
        found = f"{test.difference:+.2f} ({low:+.2f} to {high:+.2f})"
        p, differs = f"{test.p:.2f}", not low <= 0 <= high
    print(f"| {method} | {_spread(padded)} | {_spread(packed)} | {found} | {p} | {seeds} |")
    return differs


def _spread(by_seed: BySeed) -> str:
    values = list(by_seed.values())
    return f"{mean(values):.2f} ± {stdev(values):.2f}" if len(values) > 1 else f"{values[0]:.2f}"
