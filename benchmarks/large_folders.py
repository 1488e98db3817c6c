"""Run folders of the runs of a large store; what all of them answered is written once."""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from benchmarks.large_store import Judged
from results.record import Run
from results.runfolder.folder import RunFolder
from results.runfolder.values import Generation, Head, Verdict

ASKED, TOLD = "How many pens does Ann have? " * 15, "She has 7 pens and buys one. " * 12


def answered(runs: Iterable[Judged], root: Path, rows: Mapping[str, int]) -> Iterator[Judged]:
    """Give each run a folder below `root`, with so many answers to each benchmark of `rows`."""
    first: RunFolder | None = None
    for run, bits in runs:
        placed = replace(run, folder=str(root / run.run_id))
        first = _linked(first, placed) if first else _written(placed, rows)
        yield placed, bits


def _written(run: Run, rows: Mapping[str, int]) -> RunFolder:
    folder = RunFolder(Path(run.folder))
    head = Head(format=2, **{n: getattr(run, n) for n in Head.model_fields if n != "format"})
    folder.create(head, run.spec | {"protocol": {"extractor": "strict", "stop": ""}}, {})
    for name, number in rows.items():
        answer = Generation(id=0, prompt=ASKED, answer="7", ended=True, long=False, text=TOLD)
        folder.write_generations(name, (answer.model_copy(update={"id": n}) for n in range(number)))
        found = [Verdict(id=0, extracted={"strict": x}, correct={"strict": x == "7"}) for x in "78"]
        told = [found[n % 2].model_copy(update={"id": n}) for n in range(number)]
        folder.write_verdicts(name, told)
    return folder


def _linked(first: RunFolder, run: Run) -> RunFolder:
    for file in [path for path in first.path.rglob("*") if path.is_file()]:
        link = Path(run.folder) / file.relative_to(first.path)
        link.parent.mkdir(parents=True, exist_ok=True)
        os.link(file, link)
    return first
