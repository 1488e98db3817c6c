"""How long the pages over 1,000 runs take as files, with the answers that the runs kept."""

import os
import resource
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path

from benchmarks import large_store
from benchmarks.large_store import Judged
from benchmarks.reading import load
from harness.commands import leaderboard
from results.leaderboard.build import build
from results.record import Run
from results.runfolder.folder import RunFolder
from results.runfolder.values import Generation, Head, Verdict

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
    large_store.make(root / "harness.db", _runs(root / "runs", rows))
    source = leaderboard.source(str(root / "harness.db"), private=False)
    begin, worked = time.perf_counter(), _cpu_seconds()
    files = build(source, root / "out").files
    seconds = time.perf_counter() - begin, _cpu_seconds() - worked
    size = sum(path.stat().st_size for path in (root / "out").rglob("*"))
    yield from (f"{files:,}", f"{size / 1e6:.0f}", *(f"{one:.1f}" for one in seconds))


def _runs(root: Path, rows: Mapping[str, int]) -> Iterator[Judged]:
    """Make the first runs of the large store; what they answered is written once."""
    first: RunFolder | None = None
    for run, bits in islice(large_store.many_groups(), RUNS):
        tests = run.spec["tests"]
        spec = run.spec | {"tests": {name: tests[name] for name in rows}}
        placed = replace(run, folder=str(root / run.run_id), spec=spec)
        first = _linked(first, placed) if first else _written(placed, rows)
        yield placed, bits


def _written(run: Run, rows: Mapping[str, int]) -> RunFolder:
    folder = RunFolder(Path(run.folder))
    head = Head(format=2, **{n: getattr(run, n) for n in Head.model_fields if n != "format"})
    folder.create(head, run.spec | {"protocol": {"extractor": "strict", "stop": ""}}, {})
    asked, told = "How many pens does Ann have? " * 15, "She has 7 pens and buys one. " * 12
    for name, number in rows.items():
        folder.write_generations(
            name,
            (
                Generation(id=n, prompt=asked, answer="7", ended=True, long=False, text=told)
                for n in range(number)
            ),
        )
        folder.write_verdicts(
            name,
            [
                Verdict(id=n, extracted={"strict": "78"[n % 2]}, correct={"strict": n % 2 == 0})
                for n in range(number)
            ],
        )
    return folder


def _linked(first: RunFolder, run: Run) -> RunFolder:
    for file in [path for path in first.path.rglob("*") if path.is_file()]:
        link = Path(run.folder) / file.relative_to(first.path)
        link.parent.mkdir(parents=True, exist_ok=True)
        os.link(file, link)
    return first


def _cpu_seconds() -> float:
    """CPU seconds of this process and of those that it has waited for."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)
