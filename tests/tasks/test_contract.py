"""What every file in `tasks/` and `tasks/groups/` offers."""

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import tasks
import tasks.groups
from tasks.base import Benchmark, Group

GROUPS: dict[str, Group] = {
    module.name: import_module(f"tasks.groups.{module.name}").group
    for module in iter_modules(tasks.groups.__path__)
}


def test_every_benchmark_is_listed_by_exactly_one_group_and_once(name: str) -> None:
    assert [one for group in GROUPS.values() for one in group.benchmarks].count(name) == 1


def test_every_benchmark_that_a_group_lists_exists() -> None:
    files = {path.stem for path in Path(tasks.__path__[0]).glob("*.py")}
    assert {one for group in GROUPS.values() for one in group.benchmarks} <= files - {"base"}


def test_the_group_of_mathematics_has_the_seven_of_the_papers() -> None:
    assert [
        import_module(f"tasks.{name}").benchmark.title for name in GROUPS["math"].benchmarks
    ] == [*("MultiArith", "GSM8K", "AddSub", "AQuA", "SingleEq", "SVAMP", "MAWPS")]


def test_every_benchmark_has_the_extractor_of_the_papers(benchmark: Benchmark) -> None:
    assert "llm-adapters" in benchmark.extractors


def test_every_test_set_is_published_and_known_by_hash(benchmark: Benchmark) -> None:
    assert benchmark.file.kind == "published"
    assert re.fullmatch("[0-9a-f]{64}", benchmark.file.sha256 or "")
    assert benchmark.file.places
    assert benchmark.title in benchmark.file.title


def test_a_training_set_without_hash_is_marked_or_published() -> None:
    files = [file for group in GROUPS.values() for file in group.train]
    assert all(file.sha256 or file.kind == "published" for file in files)
    assert all("substitute" in file.title for file in files if file.kind == "substitute")


IMPORT_ALL = """
import pkgutil, sys, importlib, tasks
names = [module.name for module in pkgutil.walk_packages(tasks.__path__, "tasks.")]
for name in names:
    importlib.import_module(name)
print(len(names), *{"torch", "transformers", "peft", "accelerate", "numpy"} & set(sys.modules))
"""


def test_tasks_work_without_torch() -> None:
    root = Path(tasks.__path__[0]).parent
    command = [sys.executable, "-c", IMPORT_ALL]
    said = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    number, *heavy = said.split()
    assert heavy == []
    # Every file but `tasks/__init__.py` is a module or a package below it.
    assert int(number) == len(list(Path(tasks.__path__[0]).rglob("*.py"))) - 1
