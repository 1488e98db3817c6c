"""What a run costs outside its phases, and what the rows that runs share take.

Each run reads, checks and encodes a whole training set. Of the real sets a limit of tokens then
drops all but some hundred rows, so that a run takes seconds.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from benchmarks.reading import load
from harness import plugins
from harness.backbones import TINY
from harness.planning.plan import plan
from harness.planning.request import Request
from harness.protocols import paper
from harness.scheduling.executors.local import WORKER
from harness.scheduling.process import WorkerProcess
from harness.worker import encode, model
from results.runfolder.folder import RunFolder
from tasks.data.sets import training_set

RUNS, TARGET = 6, 0.2
LONGEST = {"math": 74, "commonsense": 95}
"""Tokens of a training row, by group of real files."""
FEW = ("train.epochs=1", "protocol.max_new_tokens=4")


def report() -> None:
    """Print the seconds of runs outside their phases, and the MiB of encoded rows."""
    data = os.environ.get("HARNESS_DATA")
    requests = {"samples, math": Request(methods="lora", tasks="math", limit=4, train_limit=40)}
    for group, longest in LONGEST.items() if data else ():
        requests[f"real files, {group}"] = Request(
            methods="lora",
            tasks=group,
            limit=4,
            data=Path(str(data)),
            settings=(*FEW, f"protocol.max_length={longest}"),
        )
    print(f"Outside any phase, with contamination, {RUNS} runs of one worker; {load()}:\n")
    print("| data | first run | second run on | of it contamination | target |")
    print("| :--- | ---: | ---: | ---: | ---: |")
    for name, request in requests.items():
        first, *later = spent(request)
        outside = [one for one, _ in later]
        print(
            f"| {name} | {first[0]:.2f} s | {median(outside):.2f} s ({min(outside):.2f} to "
            f"{max(outside):.2f}) | {median(one for _, one in later):.3f} s | {TARGET} s |"
        )
    if data:
        print(f"\n{memory(Path(data))}")


def spent(request: Request) -> list[tuple[float, float]]:
    """Run the same spec several times in one worker.

    Returns:
        Of each run the seconds from its folder going in to its status coming out that are in no
        phase but `contamination`, and those of that phase.
    """
    (planned,) = plan(request)
    worker = WorkerProcess(WORKER, {})
    with tempfile.TemporaryDirectory() as place:
        folders = [RunFolder(Path(place) / str(n)) for n in range(RUNS)]
        for folder in folders:
            folder.create(*planned.kept)
        worker.start()
        try:
            return [_outside(worker, folder) for folder in folders]
        finally:
            worker.end()


def _outside(worker: WorkerProcess, folder: RunFolder) -> tuple[float, float]:
    start = time.perf_counter()
    status = worker.run(folder)
    wall = time.perf_counter() - start
    result = folder.result()
    assert status == 0, folder.end_of_log()
    assert result
    counting = result.seconds["contamination"]
    phases = sum(took for name, took in result.seconds.items() if name != "wall")
    return wall - phases + counting, counting


def memory(data: Path) -> str:
    """Say what the training rows of commonsense take as tokens, and what lists of them would."""
    group = plugins.group("commonsense")
    members = [plugins.benchmark(name) for name in group.benchmarks]
    rows = training_set("commonsense", group, members, data, None).rows
    encoded = encode.encoded(rows, model.tokenizer(TINY), paper.protocol)
    packed = sum(sys.getsizeof(one) + sys.getsizeof(one.ids) for one in encoded)
    lists = sum(size for one in encoded for size in _as_list([*one.ids]))
    return (
        f"{len(rows):,} rows of commonsense as tokens of `tiny`: {packed / 2**20:.0f} MiB; "
        f"as lists of Python {lists / 2**20:.0f} MiB."
    )


def _as_list(ids: list[int]) -> Iterator[int]:
    yield sys.getsizeof(ids)
    yield from (sys.getsizeof(one) for one in ids if one > 256)  # noqa: PLR2004 - others are shared
