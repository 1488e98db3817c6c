"""How long the pages over 1,000 runs take as files, with the answers that the runs kept."""

import resource
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path

from benchmarks import large_store
from benchmarks.large_folders import answered
from benchmarks.large_store import Judged
from benchmarks.reading import load
from harness.commands import leaderboard
from results.leaderboard.build import build

RUNS = 1_000
STORES: Mapping[str, Mapping[str, int]] = {
    "60 answers to each of five benchmarks": large_store.ROWS,
    "1,319 answers to GSM8K": {"gsm8k": 1_319},
}


def report() -> None:
    """Print the seconds of a build, of both sorts of run folders."""
    print(f"Files of {RUNS:,} runs, {load()}; the target is 60 s:\n")
    print("| each run has | files | MB | seconds | CPU seconds |")
    print("| :--- | ---: | ---: | ---: | ---: |")
    for name, rows in STORES.items():
        with tempfile.TemporaryDirectory() as folder:
            print(f"| {name} | {' | '.join(_built(Path(folder), rows))} |")


def _built(root: Path, rows: Mapping[str, int]) -> Iterator[str]:
    large_store.make(root / "harness.db", answered(_runs(rows), root / "runs", rows))
    source = leaderboard.source(str(root / "harness.db"), private=False)
    begin, worked = time.perf_counter(), _cpu_seconds()
    files = build(source, root / "out").files
    seconds = time.perf_counter() - begin, _cpu_seconds() - worked
    size = sum(path.stat().st_size for path in (root / "out").rglob("*"))
    yield from (f"{files:,}", f"{size / 1e6:.0f}", *(f"{one:.1f}" for one in seconds))


def _runs(rows: Mapping[str, int]) -> Iterator[Judged]:
    """Make the first runs of the large store, tested on nothing but `rows`."""
    for run, bits in islice(large_store.many_groups(), RUNS):
        tests = {name: run.spec["tests"][name] for name in rows}
        yield replace(run, spec=run.spec | {"tests": tests}), bits


def _cpu_seconds() -> float:
    """CPU seconds of this process and of those that it has waited for."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)
