"""Twenty visitors for a minute, while a grid of real runs writes into the store."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from benchmarks.visitors import Answer, percentile, serving, visit
from results.record import Run
from results.store import Reader, Store

VISITORS, SECONDS, OTHERS = 20, 60, 110
PATHS = ("/", "/api/runs", "/api/rank", "/?sort=method", "/runs", "/?group=qa", "/?search=lora")


@pytest.fixture
def place(tmp_path: Path, make: Callable[..., Run]) -> Path:
    """Make a store of another group, of 22 methods with five seeds on eight benchmarks."""
    store = Store(tmp_path / "harness.db")
    for number in range(OTHERS):
        scores = {f"b{n}": 40 + number % 22 for n in range(8)}
        store.add(make(f"method-{number % 22}", number // 22, scores, group="qa"))
    return tmp_path / "harness.db"


@pytest.fixture
def grid(place: Path, tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Run more seeds than end within the minute, on one slot."""
    seeds = ",".join(str(seed) for seed in range(1, 100))
    short = ["--limit", "4", "--train-limit", "20", "--set", "train.epochs=1", "--slots", "1"]
    words = ["run", "--methods", "lora", "--tasks", "gsm8k", "--seeds", seeds, *short]
    where = ["--store", str(place), "--runs", str(tmp_path / "runs")]
    process = subprocess.Popen(
        [sys.executable, "-m", "harness", *words, *where],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    yield process
    process.terminate()
    process.wait(60)


def finished(place: Path) -> int:
    return Reader(place).counts().get("finished", 0)


def shown(answer: Answer) -> int:
    """Count the finished runs that an answer of the API knows, those of `qa` included."""
    values = json.loads(answer.body)
    if answer.path == "/api/runs":
        count: int = values["counts"]["finished"]
        return count
    if values["view"]["group"] == "qa":
        return OTHERS
    rows = [row for table in values["tables"] for block in table["blocks"] for row in block["rows"]]
    return OTHERS + sum(len(row["cells"][0]["runs"]) for row in rows)


@pytest.mark.parts
@pytest.mark.usefixtures("grid")
def test_twenty_visitors_get_whole_pages_that_know_every_stored_run_while_a_grid_writes(
    place: Path,
) -> None:
    stored: list[list[int]] = [[] for _ in range(VISITORS)]

    def path(visitor: int, turn: int) -> str:
        stored[visitor].append(finished(place))
        return PATHS[(visitor + turn) % len(PATHS)]

    with serving(place) as server:
        answers = visit(server, VISITORS, SECONDS, path)
    assert {answer.status for answer in answers} == {200}
    before = [number for of_one in stored for number in of_one]
    after = finished(place)
    for least, answer in zip(before, answers, strict=True):
        if answer.path.startswith("/api"):
            assert least <= shown(answer) <= after
        else:
            assert answer.body.rstrip().endswith(b"</html>")
    print(f"95 % within {percentile(answers, 0.95):.3f} s, {after - OTHERS} runs were stored")
    assert after > OTHERS
