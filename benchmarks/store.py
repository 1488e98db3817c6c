"""How long commands take on a store of 100,000 runs, and on one of 22,419 judged items a run.

Each command runs in a fresh process and is measured after the imports: how long these take is
measured by `reading`. The time is that of the process on the CPU, since others use the machine too.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from benchmarks import large_store
from benchmarks.reading import load

ROUNDS = 3

MANY_GROUPS = (
    ("table --tasks group-7", 1.0),
    ("table --tasks group-7 --json", 1.0),
    ("compare method-1 method-2 --tasks group-7", 1.0),
    ("history --tasks group-7 --method method-3", 0.3),
    ("history --method method-3", None),
    ("show 0123456789abcdef", 0.3),
)
"""Commands on the store of many groups, with their targets in seconds."""

MEASURED = """
import contextlib, io, json, resource, sys, time
from harness.cli import main
import harness.commands.one_run.show, harness.commands.tables, sqlalchemy.dialects.sqlite

wall, cpu = time.perf_counter(), time.process_time()
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    with contextlib.suppress(SystemExit):
        main()
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
print(json.dumps([cpu, wall, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))
"""


def report() -> None:
    """Print the seconds and the memory of each command."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "harness.db"
        large_store.make(place, large_store.many_groups())
        print(f"A store of 100,000 runs and 1,000,000 scores, fastest of {ROUNDS}, {load()}:\n")
        _print_measured(folder, MANY_GROUPS)
        place.unlink()


def _print_measured(folder: str, commands: Iterable[tuple[str, float | None]]) -> None:
    print(
        "| command | CPU seconds | seconds | target | MiB |\n| :--- | ---: | ---: | ---: | ---: |"
    )
    for command, target in commands:
        cpu, wall, memory = min(_measured(command, folder) for _ in range(ROUNDS))
        wanted = "" if target is None else f"{target:.1f}"
        print(f"| `harness {command}` | {cpu:.2f} | {wall:.2f} | {wanted} | {memory:.0f} |")


def _measured(command: str, folder: str) -> tuple[float, float, float]:
    """Give CPU seconds, wall-clock seconds and the most memory in MiB."""
    cache = {"XDG_CACHE_HOME": tempfile.mkdtemp(dir=folder)}  # nothing is kept of earlier rounds
    words = [sys.executable, "-c", MEASURED, *command.split()]
    done = subprocess.run(
        words, cwd=folder, env=os.environ | cache, check=True, capture_output=True, text=True
    )
    cpu, wall, memory = json.loads(done.stdout)
    return cpu, wall, memory
