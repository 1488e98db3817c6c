"""`python -m benchmarks chaos FOLDER [PART ...]`: go on with chaos, and print what it came to."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from pathlib import Path

from benchmarks.chaos import all_methods, damages, disks, kills, parents, surroundings, users
from benchmarks.chaos.damages import Places
from benchmarks.chaos.grid import SMALL, Grid, slots
from benchmarks.chaos.rounds import Kept, Part, go_on, table
from harness.errors import unknown
from harness.scheduling.executors.contract import Executor

LIMIT = 3300
"""Seconds after which no round begins, so that a call takes an hour at most."""

LOCKED = 120.0
"""Seconds for which the store is locked."""

MOST, MOST_COMMANDS = 60, 10
"""Kills of a round at most; each kill of a command costs a start of it."""


def parts(folder: Path, executor: Executor) -> dict[str, Part]:
    """Describe all sorts of chaos; what runs undisturbed is kept in `folder`."""
    small = Grid(SMALL, folder / "undisturbed")
    all_of_them = Grid(all_methods.ALL, folder / "undisturbed-all")
    cells = Grid(parents.cells(200), folder / "undisturbed-cells")
    killed = Places(small, folder / "killed")
    return {
        "clock": Part("clocks set back", 5, surroundings.clock(small)),
        "locked-store": Part("locks", 4, surroundings.locked_store(small, LOCKED)),
        "read-only-store": Part(
            "read-only stores",
            4,
            users.read_only_store(small),
            users.cannot() if users.ROOT else "",
        ),
        "users": Part("grids of two users", 6, users.two_users(small), users.cannot()),
        "full-disk": Part("full disks", 20, disks.full(small), disks.cannot()),
        "parents": Part("cells", 200, parents.of_a_grid(cells)),
        "damages": Part("damages", 200, damages.of_files(killed, executor, 10)),
        "commands": Part("kills", 100, kills.of_commands(small, MOST_COMMANDS)),
        "runs": Part("kills", 900, kills.of_runs(small, executor, MOST)),
        "all-methods": Part("disturbances", 200, all_methods.disturbed(all_of_them, 200)),
    }


def main(words: Sequence[str]) -> int:
    """Go on in a folder with the parts of these names, or all; return the exit status.

    Returns:
        1 if anything was lost, in this call or one before; 2 for a name that is no part's.
    """
    folder, *names = words or ["chaos"]
    kept = Kept(Path(folder).resolve())
    for made in ("undisturbed", "undisturbed-all", "undisturbed-cells", "killed"):
        shutil.rmtree(kept.folder / made, ignore_errors=True)  # by the program as it was
    with slots() as executor, (kept.folder / "progress.txt").open("a") as progress:
        known = parts(kept.folder, executor)
        if faults := [unknown("part", name, list(known)) for name in names if name not in known]:
            print(f"error: {faults[0]}", file=sys.stderr)
            return 2
        with redirect_stderr(progress):
            go_on(kept, {name: known[name] for name in names or known}, LIMIT)
    return _told(kept, known)


def _told(kept: Kept, known: Mapping[str, Part]) -> int:
    print("\n".join(["", *table(kept, known), "", *kept.lost]))
    if any(kept.counts(name)[part.unit] < part.target for name, part in known.items()):
        print("The same command goes on with what is left.")
    return 1 if kept.lost else 0
