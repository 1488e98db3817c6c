"""What every file in `tasks/` and `tasks/groups/` offers."""

import re
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import pytest

import tasks
import tasks.groups
from tasks.contract import Benchmark, Group
from tasks.data.sets import DataSet

GROUPS: dict[str, Group] = {
    module.name: import_module(f"tasks.groups.{module.name}").group
    for module in iter_modules(tasks.groups.__path__)
}


def test_every_benchmark_is_in_a_group_and_in_none_twice(name: str) -> None:
    times = [group.benchmarks.count(name) for group in GROUPS.values()]
    assert sum(times) >= 1
    assert max(times) == 1


def test_every_benchmark_that_a_group_lists_exists() -> None:
    files = {path.stem for path in Path(tasks.__path__[0]).glob("*.py")}
    assert {one for group in GROUPS.values() for one in group.benchmarks} <= files - {"contract"}


@pytest.mark.parametrize(
    ("group", "titles"),
    [
        ("math", "MultiArith GSM8K AddSub AQuA SingleEq SVAMP MAWPS"),
        ("commonsense", "BoolQ PIQA SIQA ARC-Challenge ARC-Easy OBQA HellaSwag WinoGrande"),
        ("multitask", "Auto-CoT iCliniq Dolly_2.0 CodeAlpaca WebGPT"),
        ("dialogue", "ConvAI2"),
        ("metamath", "GSM8K"),
    ],
    indirect=["group"],
)
def test_a_group_has_the_benchmarks_of_the_papers_in_their_order(group: Group, titles: str) -> None:
    found = [import_module(f"tasks.{name}").benchmark.title for name in group.benchmarks]
    assert [title.replace(" ", "_") for title in found] == titles.split()


def test_a_group_trains_on_a_set_of_its_own_or_has_folds(group: Group) -> None:
    has_training = bool(group.train) and group.sample_rows > 0
    assert has_training != (group.folds > 0)


def test_a_benchmark_extracts_one_answer_or_compares_texts(benchmark: Benchmark) -> None:
    if benchmark.extractors:
        assert "llm-adapters" in benchmark.extractors
        assert benchmark.metrics == ("accuracy",)
    else:
        assert {"bleu", "rouge-l", "perplexity"} <= set(benchmark.metrics)
        assert "accuracy" not in benchmark.metrics


def test_every_gold_answer_of_a_sample_can_be_one(benchmark: Benchmark, sample: DataSet) -> None:
    assert [benchmark.check_gold(row) for row in sample.rows] == [""] * len(sample.rows)


def test_a_gold_answer_that_cannot_be_one_is_refused(benchmark: Benchmark, sample: DataSet) -> None:
    broken = replace(sample.rows[0], answer="answer99")
    assert bool(benchmark.check_gold(broken)) == bool(benchmark.extractors)


def test_every_option_is_told_from_the_others_by_every_extractor(
    benchmark: Benchmark, sample: DataSet
) -> None:
    for row in sample.rows if benchmark.options else ():
        completions = benchmark.options(row)  # type: ignore[misc]
        assert row.answer in completions
        for extract in benchmark.extractors.values():
            assert {answer: extract(text) for answer, text in completions.items()} == {
                answer: answer for answer in completions
            }


def test_a_test_set_is_published_and_its_stand_ins_are_known_by_hash(benchmark: Benchmark) -> None:
    assert benchmark.file.kind == "published"
    assert benchmark.title in benchmark.file.title
    for file in benchmark.substitutes:
        assert file.kind == "substitute"
        assert file.title.startswith("substitute for ")
        assert file.sha256


def test_a_file_is_known_by_hash_or_by_rows_and_has_a_place_of_its_own() -> None:
    benchmarks = {one for group in GROUPS.values() for one in group.benchmarks}
    tests = [import_module(f"tasks.{name}").benchmark for name in sorted(benchmarks)]
    files = [file for test in tests for file in test.files]
    files += {file for group in GROUPS.values() for file in group.train}
    assert all(re.fullmatch("[0-9a-f]{64}", file.sha256 or 64 * "0") for file in files)
    assert all(file.rows > 0 for file in files)
    places = [place for file in files for place in file.places]
    assert len(places) == len(set(places)) >= len(files)


def test_a_training_set_without_hash_is_marked_or_published(group: Group) -> None:
    assert all(file.sha256 or file.kind == "published" for file in group.train)
    assert all("substitute" in file.title for file in group.train if file.kind == "substitute")


IMPORT_ALL = """
import pkgutil, sys, importlib, tasks
names = [module.name for module in pkgutil.walk_packages(tasks.__path__, "tasks.")]
# Sums of texts are arrays; only commands that test texts import it, with NumPy anyway.
for name in sorted(names, key=lambda name: name == "tasks.metrics.parts"):
    light = "numpy" not in sys.modules
    importlib.import_module(name)
heavy = {"torch", "transformers", "peft", "accelerate", "datasets"}
print(len(names), *heavy & set(sys.modules), *[] if light else ["numpy"])
"""


def test_tasks_work_without_torch() -> None:
    root = Path(tasks.__path__[0]).parent
    command = [sys.executable, "-c", IMPORT_ALL]
    said = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    number, *heavy = said.split()
    assert heavy == []
    # Every file but `tasks/__init__.py` is a module or a package below it.
    assert int(number) == len(list(Path(tasks.__path__[0]).rglob("*.py"))) - 1


def test_the_readme_lists_every_shared_file_in_3_to_8_words() -> None:
    root = Path(tasks.__path__[0])
    text = (root / "README.md").read_text()
    listed = re.findall(r"^\| `([a-z]+\.py)` \| (.*) \|$", text, re.MULTILINE)
    benchmarks = {one for group in GROUPS.values() for one in group.benchmarks}
    shared = [path.name for path in root.glob("*.py") if path.stem not in benchmarks]
    shared += [path.name for path in root.glob("*/*.py") if path.parent.name != "groups"]
    assert sorted(file for file, _ in listed) == sorted(n for n in shared if n != "__init__.py")
    assert [words for _, words in listed if not 3 <= len(words.split()) <= 8] == []
