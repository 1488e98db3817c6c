"""The published files, where the environment variable HARNESS_DATA names a folder with them.

The counts were made on the files by other programs: rows in the papers, numbers that are negative
or not whole and rationales that miss the answer in the notes that came with the data.
"""

import gzip
import os
from functools import cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path

import pytest

from tasks.base import Benchmark
from tasks.data import files, sets
from tasks.data.sets import DataSet
from tasks.groups.math import group


@cache
def load(name: str, folder: Path) -> DataSet:
    return sets.load_test(name, import_module(f"tasks.{name}").benchmark, folder)


@pytest.fixture(scope="module")
def data() -> Path:
    if not os.environ.get("HARNESS_DATA"):
        pytest.skip("HARNESS_DATA names no folder with the published data")
    return Path(os.environ["HARNESS_DATA"])


@pytest.fixture
def real(name: str, data: Path) -> DataSet:
    return load(name, data)


def judged(benchmark: Benchmark, completion: str, gold: str) -> bool:
    return benchmark.judge(benchmark.extractors["llm-adapters"](completion), gold)


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("multiarith", 600),
        ("gsm8k", 1319),
        ("addsub", 395),
        ("aqua", 254),
        ("singleeq", 508),
        ("svamp", 1000),
        ("mawps", 238),
    ],
    indirect=["name"],
)
def test_test_sets_have_the_rows_of_the_papers(real: DataSet, rows: int) -> None:
    assert len(real.rows) == rows
    assert (real.kind, real.verified) == ("published", True)


def test_the_hash_is_that_of_the_file(benchmark: Benchmark, real: DataSet, data: Path) -> None:
    path = files.locate(benchmark.file, data)
    assert path
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    assert real.sha256 == sha256(content).hexdigest()


def test_the_gold_answer_as_completion_is_right(benchmark: Benchmark, real: DataSet) -> None:
    wrong = [row.id for row in real.rows if not judged(benchmark, row.answer, row.answer)]
    assert wrong == []


def test_every_rationale_is_judged_without_exception(benchmark: Benchmark, real: DataSet) -> None:
    verdicts = [judged(benchmark, row.output, row.answer) for row in real.rows]
    assert {type(verdict) for verdict in verdicts} == {bool}


@pytest.mark.parametrize(
    ("name", "missed"),
    # GSM8K: 542 rationales end in another number and 6 are empty; all of MAWPS' are empty.
    [("gsm8k", 542 + 6), ("svamp", 197), ("mawps", 238)],
    indirect=["name"],
)
def test_rationales_miss_the_answer_as_often_as_counted(
    name: str, real: DataSet, missed: int
) -> None:
    benchmark = import_module(f"tasks.{name}").benchmark
    assert sum(not judged(benchmark, row.output, row.answer) for row in real.rows) == missed


@pytest.mark.parametrize(
    ("name", "negative", "broken"),
    [
        ("multiarith", 0, 0),
        ("gsm8k", 2, 0),
        ("addsub", 0, 126),
        ("singleeq", 0, 134),
        ("svamp", 0, 0),
        ("mawps", 1, 38),
    ],
    indirect=["name"],
)
def test_gold_numbers_are_negative_or_broken_as_often_as_counted(
    real: DataSet, negative: int, broken: int
) -> None:
    numbers = [float(row.answer) for row in real.rows]
    assert sum(number < 0 for number in numbers) == negative
    assert sum(number % 1 != 0 for number in numbers) == broken


def test_the_substitute_for_math10k_is_marked_as_such(data: Path) -> None:
    if files.locate(group.train[0], data):
        pytest.skip("Math10K itself is at hand and goes before its substitute")
    found = sets.load_training("math", group, (), data)
    assert (found.kind, found.verified, len(found.rows)) == ("substitute", True, 8412)
    assert found.title == "substitute for Math10K"
