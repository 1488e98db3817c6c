"""How fast the pages over a store of 100,000 runs are, and how much memory their server takes."""

import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import islice
from pathlib import Path

from benchmarks import large_store
from benchmarks.large_folders import answered
from benchmarks.large_store import Judged
from benchmarks.reading import load
from benchmarks.visitors import Answer, Server, percentile, serving, visit
from results.record import Run
from results.store import Store

RUNS, ANSWERED = 100_000, 5_000
"""All, and the newest of them, whose answers are kept."""
ITEMS = 1_319
"""Rows of GSM8K."""
VISITORS, SECONDS, EVERY = 20, 30, 10.0
"""Who asks once a second each, how long, and the seconds between two runs that are stored."""
IDLE = 0.05
"""CPU seconds in two seconds, of a server that does nothing but look for changes."""
GROUPS = 30
"""Groups that are looked at one after the other."""


def report() -> None:
    """Print what a visitor waits for, what the server works, and what it holds."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"Pages over a store of {RUNS:,} runs with 1,000,000 scores, {load()}:\n")
        large_store.make(folder / "harness.db", _answered(folder / "runs"))
        first, second = Store(folder / "harness.db").page(0, 2)
        with serving(folder / "harness.db") as server:
            _pages(server, first, second, Store(folder / "harness.db"))
            _many(server, first, Store(folder / "harness.db"))


def _answered(root: Path) -> Iterator[Judged]:
    """Make the runs of the large store, of which the last have a run folder."""
    runs = large_store.many_groups()
    yield from islice(runs, RUNS - ANSWERED)
    yield from answered(runs, root, {"gsm8k": ITEMS})


def _pages(server: Server, first: Run, second: Run, store: Store) -> None:
    group, other = first.group, second.group
    pair = f"first={first.run_id}&second={second.run_id}&benchmark=gsm8k"
    row = _rows(server)
    row("first page after the start", "/", 0.3)
    _settle(server)
    row("the same again", "/")
    for name, query in {
        "sorted by a benchmark": "sort=aqua",
        "sorted by memory": "sort=memory&reverse=1",
        "one column": "columns=svamp",
        "searched": "search=method-1",
        "the next page of its tables": "page=2",
    }.items():
        row(name, f"/?group={group}&{query}", 0.1)
    row("another group, for the first time", f"/?group={other}", 0.3)
    row("an old group, for the first time", "/?group=group-7", 0.3)
    row("runs, newest first", "/runs", 0.3)
    row("runs, the last page", "/runs?page=1000", 0.3)
    row("runs that failed", "/runs?status=failed&page=10", 0.3)
    row("a run", f"/run/{first.run_id}")
    row("its answers to GSM8K", f"/run/{first.run_id}/items/gsm8k")
    row("answers of two runs to GSM8K", f"/compare/items?{pair}", 0.5)
    _settle(server)
    store.add(_next(first, 0))
    row("first page after a run of its group was stored", "/", 0.3)
    _bytes(server)


def _settle(server: Server) -> None:
    """Wait until the server has made ahead what it makes ahead."""
    before = -1.0
    while server.cpu_seconds() - before > IDLE:
        before = server.cpu_seconds()
        time.sleep(2)


def _rows(server: Server) -> Callable[..., None]:
    """Print the head of a table, and give what prints a row of it."""
    print("| page | CPU seconds | seconds | target |\n| :--- | ---: | ---: | ---: |")

    def row(name: str, path: str, target: float | None = None) -> None:
        before = server.cpu_seconds()
        answer = server.get(path)
        cpu, wanted = server.cpu_seconds() - before, "" if target is None else f"{target:.1f}"
        told = f"{cpu:.3f} | {answer.seconds:.3f}" if _good(answer) else f"{answer.status} | "
        print(f"| {name} | {told} | {wanted} |")

    return row


def _good(answer: Answer) -> bool:
    return answer.status == 200  # noqa: PLR2004 (HTTP's)


def _bytes(server: Server) -> None:
    page = server.get("/").body
    assets = dict.fromkeys(re.findall(r'(?:href|src)="(/static/[^"]+)"', page.decode()))
    loaded = sum(len(server.get(path).body) for path in assets)
    print(f"\nThe first page is {len(page) / 1000:.0f} kB, what it loads {loaded / 1000:.0f} kB;")
    print("the target is 500 kB for both.")


def _many(server: Server, newest: Run, store: Store) -> None:
    """Look at many groups, then let visitors come while runs are stored."""
    for number in range(GROUPS):
        server.get(f"/?group=group-{number}")
    print(f"The most memory after {GROUPS} groups: {server.most_mib():.0f} MiB, target 500.")
    done = threading.Event()
    writer = threading.Thread(target=_write, args=(store, newest, done))
    before, begin = server.cpu_seconds(), time.monotonic()
    writer.start()
    answers = visit(server, VISITORS, SECONDS, _path(newest))
    done.set()
    writer.join()
    busy = (server.cpu_seconds() - before) / (time.monotonic() - begin)
    bad = sum(not _good(answer) for answer in answers)
    print(
        f"{VISITORS} visitors for {SECONDS} s, a run stored every {EVERY:.0f} s, {load()}: "
        f"{bad} errors, half within {percentile(answers, 0.5):.3f} s, 95 % within "
        f"{percentile(answers, 0.95):.3f} s (target 0.3), CPU {100 * busy:.0f} % of a core.\n"
    )


def _path(run: Run) -> Callable[[int, int], str]:
    pages = (
        *("/", "/?sort=aqua", "/?search=method-1", "/?columns=svamp", "/runs", "/api/rank"),
        *(f"/run/{run.run_id}", "/?page=2", "/runs?status=failed", "/"),
    )
    return lambda visitor, turn: pages[(visitor + turn) % len(pages)]


def _write(store: Store, newest: Run, done: threading.Event) -> None:
    number = 1
    while not done.wait(EVERY):
        store.add(_next(newest, number))
        number += 1


def _next(newest: Run, number: int) -> Run:
    """Make a later attempt at the newest run."""
    return replace(newest, started=newest.started + timedelta(hours=number + 1))
