"""A benchmark of a user's file in the harness, here as another distribution offers it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.commands import data
from harness.planning.plan import plan
from harness.planning.request import Request

Install = Callable[..., Path]

ENTRY_POINTS = """
[harness.tasks]
zoo = extra.zoo:benchmark
[harness.groups]
animals = extra.animals:group
"""
ZOO = '''
"""Zoo: questions about animals."""
from tasks.from_file import benchmark_from
benchmark = benchmark_from(
    __file__, "rows.json", question="q", answer="a", kind="number", train="train.json"
)
'''
ANIMALS = '''
"""Animals: one benchmark."""
from tasks.contract import Group
from extra.zoo import benchmark
group = Group(title="Animals", benchmarks=("zoo",), train=benchmark.train, sample_rows=0)
'''


@pytest.fixture
def package(install: Install) -> Path:
    folder = install(ENTRY_POINTS, zoo=ZOO, animals=ANIMALS)
    write(folder / "rows.json", 5)
    write(folder / "train.json", 30)
    return folder


def write(path: Path, count: int) -> None:
    rows = [{"q": f"Legs of {n} cats?", "a": 4 * n} for n in range(count)]
    path.write_text(json.dumps(rows))


@pytest.mark.parametrize("folder", [None, "data"])
def test_it_is_planned_on_its_own_files_with_a_data_folder_and_without(
    package: Path, tmp_path: Path, folder: str | None
) -> None:
    (tmp_path / "data").mkdir()
    (run,) = plan(Request(methods="base", tasks="zoo", data=tmp_path / folder if folder else None))
    test = run.spec.tests["zoo"]
    assert (test.title, test.kind, test.verified, test.rows) == ("rows.json", "own", True, 5)
    assert (run.spec.train_data.title, run.spec.train_data.rows) == ("train.json", 30)


def test_other_rows_are_another_run(package: Path) -> None:
    request = Request(methods="base", tasks="zoo")
    (before,), _ = plan(request), write(package / "rows.json", 6)
    (after,) = plan(request)
    assert before.spec.run_id != after.spec.run_id


def test_the_data_commands_know_its_files(package: Path, tmp_path: Path) -> None:
    (folder := tmp_path / "data").mkdir()
    own = [row for row in data.status(folder).value["files"] if row["kind"] == "own"]
    assert [row["there"] for row in own] == [str(package / n) for n in ("rows.json", "train.json")]
    report = data.contaminated("animals", None, package / "train.json")
    assert len(report.value["animals"]["benchmarks"]["zoo"]["exact"]) == 5
