"""Ranks: they work together, end together, and the reason of the one that failed is the run's."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

SCRIPT = """
import os, signal, sys, time
from pathlib import Path
import torch
from harness.worker import ranks
from harness.worker.ranks import Rank, together

%s
folder = Path(sys.argv[1])

def work(rank):
    (folder / f"rank-{rank.number}").write_text(str(os.getpid()))
    %s

def give_up(error):
    (folder / "reason").write_text(f"{type(error).__name__}: {error}")

with together(3, work, give_up) as own:
    %s
"""


def started(folder: Path, others: str, own: str, before: str = "") -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", SCRIPT % (before, others, own), os.fspath(folder)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def pids(folder: Path) -> list[int]:
    files = [folder / f"rank-{number}" for number in (1, 2)]
    return [int(file.read_text() or 0) for file in files if file.exists()]


def test_all_ranks_add_up_what_each_has(tmp_path: Path) -> None:
    summed = "rank.join(); x = torch.tensor([1.0, rank.number]); rank.sum(x); rank.leave()"
    said = "rank = own; " + summed + "; print(x.tolist())"
    printed, _ = started(tmp_path, summed, said).communicate(timeout=120)
    assert json.loads(printed) == [3.0, 0 + 1 + 2]


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("rank.number == 1 and [][0]; time.sleep(60)", "rank 1 of 0 to 2: IndexError: list"),
        # "KeyError: '" has 11 bytes, so that byte 4096 is the first of two.
        ("rank.number == 1 and {}['é' * 4000]; time.sleep(60)", "0 to 2: KeyError: 'éé"),
        (
            "rank.number == 2 and os.kill(os.getpid(), signal.SIGKILL); time.sleep(60)",
            "VanishedError: rank 2 of 0 to 2 was ended by SIGKILL",
        ),
    ],
)
def test_a_rank_that_dies_ends_the_run_with_its_reason_also_where_rank_0_hangs(
    tmp_path: Path,
    alive: Callable[[int], bool],
    until: Callable[..., bool],
    fault: str,
    reason: str,
) -> None:
    run = started(tmp_path, fault, "time.sleep(60)", before="ranks.GRACE = 0.1")
    run.communicate(timeout=120)
    assert run.returncode == 1
    assert reason in (tmp_path / "reason").read_text()
    assert until(lambda: not any(map(alive, pids(tmp_path))))


def test_a_rank_that_rank_0_waits_for_is_the_reason_of_what_rank_0_raises(tmp_path: Path) -> None:
    fault = "rank.join(); rank.number == 1 and [][0]; rank.sum(torch.ones(1))"
    run = started(tmp_path, fault, "own.join(); own.sum(torch.ones(1))")
    _, errors = run.communicate(timeout=120)
    assert run.returncode == 1
    assert "RuntimeError: rank 1 of 0 to 2: IndexError" in errors.splitlines()[-1]


@pytest.mark.parametrize("ended", [signal.SIGKILL, signal.SIGTERM])
def test_no_rank_outlives_rank_0(
    tmp_path: Path,
    alive: Callable[[int], bool],
    until: Callable[..., bool],
    orphans: list[int],
    ended: signal.Signals,
) -> None:
    run = started(tmp_path, "time.sleep(100)", "time.sleep(100)")
    assert until(lambda: len(pids(tmp_path)) == 2 and all(pids(tmp_path)), 100)
    orphans += pids(tmp_path)
    run.send_signal(ended)
    run.communicate(timeout=60)
    assert until(lambda: not any(map(alive, orphans)))
