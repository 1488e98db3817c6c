"""How long commands take on a store of 100,000 runs, and on one of 22,419 judged items a run.

Each command runs in a fresh process and is measured after the imports; `reading` measures how long
these take.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from benchmarks import large_store
from benchmarks.large_store import Judged
from benchmarks.reading import load

ROUNDS = 3

Command = tuple[str, float | None]
"""Its words, and the target in seconds."""

ON_MANY_RUNS: tuple[Command, ...] = (
    ("table --tasks group-7", 1.0),
    ("table --tasks group-7 --json", 1.0),
    ("compare method-1 method-2 --tasks group-7", 1.0),
    ("history --tasks group-7 --method method-3", 0.3),
    ("history", 0.1),
    ("history --method method-3", 0.1),
    ("history --method 'method-3[train.lr=1e-4]' --sort -gsm8k.accuracy", 0.1),
    ("history --backbone backbone-1", 0.1),
    ("history --tasks gsm8k", 0.1),
    ("history --seed 2333", 0.1),
    ("history --status failed", 0.1),
    ("history --protocol paper", 0.1),
    ("history --environment env", 0.1),
    ("history --from 2025-02-01 --to 2025-02-10", 0.1),
    ("history --metric accuracy:60..80", 0.1),
    ("history --metric gsm8k.accuracy:90..", 0.1),
    ("history --where 'lr >= 1.5e-4'", 0.1),
    ("history --tasks group-7 --where 'lr > 1e-4' --where 'gsm8k.accuracy > 50'", 0.1),
    ("history --sort -gsm8k.accuracy", 0.1),
    ("history --sort -lr --columns run,lr,gsm8k.accuracy", 0.1),
    ("history --group-by method,lr", 0.1),
    ("show 0123456789abcdef", 0.3),
)
ON_MANY_ITEMS: tuple[Command, ...] = (
    ("table --test crossed", 20.0),
    ("table --test sign-flip", 20.0),
)

MEASURED = """
import contextlib, io, json, sys, time
from harness.cli import main
import harness.commands.one_run.show, sqlalchemy.dialects.sqlite
import harness.commands.compare, harness.commands.history, harness.commands.table
import harness.cli.history

wall, cpu, told = time.perf_counter(), time.process_time(), io.StringIO()
with contextlib.redirect_stdout(told), contextlib.redirect_stderr(told):
    try:
        main()
    except SystemExit as ended:
        status = ended.code
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
assert not status or "No run in harness.db" in told.getvalue(), told.getvalue()
# Not ru_maxrss, which begins at what the process that started this one took.
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([cpu, wall, int(peak.split()[1]) / 1024]))
"""


def report() -> None:
    """Print the seconds and the memory of each command."""
    _measure("100,000 runs with 1,000,000 scores", large_store.many_groups(), ON_MANY_RUNS)
    _measure("22 methods, 5 seeds, 22,419 items", large_store.many_items(), ON_MANY_ITEMS)


def _measure(title: str, runs: Iterable[Judged], commands: Iterable[Command]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        large_store.make(Path(folder) / "harness.db", runs)
        print(f"A store of {title}, fastest of {ROUNDS} after the imports, {load()}:\n")
        print("| command | CPU seconds | seconds | target | MiB |")
        print("| :--- | ---: | ---: | ---: | ---: |")
        for command, target in commands:
            # A cache of its own for each: nothing is kept of earlier rounds.
            caches = [tempfile.mkdtemp(dir=folder) for _ in range(ROUNDS)]
            for again in ("", ", again")[: 1 + ("--test" in command)]:
                cpu, wall, memory = min(measured(command, folder, cache) for cache in caches)
                wanted = "" if again or target is None else f"{target:.1f}"
                row = f"`harness {command}`{again}", f"{cpu:.2f}", f"{wall:.2f}", wanted
                print(f"| {' | '.join(row)} | {memory:.0f} |")
        print()


def measured(command: str, folder: str, cache: str) -> tuple[float, float, float]:
    """Give CPU seconds, wall-clock seconds and the most memory in MiB of a command in `folder`."""
    environment = os.environ | {"XDG_CACHE_HOME": cache}
    words = [sys.executable, "-c", MEASURED, *shlex.split(command)]
    done = subprocess.run(words, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE)
    cpu, wall, memory = json.loads(done.stdout)
    return cpu, wall, memory
