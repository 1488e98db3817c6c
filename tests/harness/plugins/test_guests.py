"""Plugins of other distributions: one that is wrong is one line, and everything else goes on."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import plugins
from harness.errors import UserError
from harness.planning.parse import Tasks, parse_tasks

Command = Callable[..., Any]

METHOD = '''"""Half LoRA: LoRA of half the rank."""
from dataclasses import replace
from methods.lora import method as lora
method = replace(lora, title="Half LoRA", defaults={**lora.defaults, "r": 12}, variants={})
'''
BENCHMARK = '''"""Theirs."""
from dataclasses import replace
from tasks.gsm8k import benchmark as gsm8k
benchmark = replace(gsm8k, title="Theirs")
'''
GROUP = '''"""Aardvarks: first of all groups by name."""
from tasks.contract import Group
group = Group(title="Aardvarks", benchmarks=("gsm8k", "theirs"), train=(), sample_rows=50)
'''
LOST = '''"""Lost: imports what is not there."""
import nowhere_at_all
'''
SHORT = (
    *("--limit", "2", "--train-limit", "20", "--set", "train.epochs=1", "--slots", "1"),
    *("--set", "protocol.max_new_tokens=8"),
)

WRONG = """
[harness.methods]
half = extra.half:method
lost = extra.lost:method
number = extra.number:method
silent = extra.silent:method
absent = extra.absent:method
broken = extra.broken:method
lora = extra.half:method
[harness.tasks]
theirs = extra.theirs:benchmark
lost = extra.lost:benchmark
number = extra.number:method
gsm8k = extra.theirs:benchmark
[harness.groups]
aardvarks = extra.aardvarks:group
lost = extra.lost:group
hollow = extra.hollow:group
svamp = extra.aardvarks:group
"""


@pytest.fixture
def wrong(install: Callable[..., Path]) -> None:
    install(
        WRONG,
        half=METHOD,
        lost=LOST,
        number='"""Number: none."""\nmethod = 3\n',
        silent=METHOD.partition("\n")[2],
        broken="def method(:",
        theirs=BENCHMARK,
        aardvarks=GROUP,
        hollow=GROUP.replace('"gsm8k", "theirs"', '"nothing"'),
    )


LINES = {
    "lost": "the {} 'lost' of extra 1.0 cannot be imported: ModuleNotFoundError: No module named "
    "'nowhere_at_all' (lost.py, line 2)",
    "number": "the {} 'number' of extra 1.0 offers 'int', not {}",
    "absent": "the {} 'absent' of extra 1.0 cannot be imported: ModuleNotFoundError: No module "
    "named 'extra.absent'",
    "broken": "the {} 'broken' of extra 1.0 cannot be imported: SyntaxError",
}


def test_each_guest_that_cannot_be_used_is_one_line_with_distribution_and_reason(
    wrong: None,
) -> None:
    found = plugins.faults("methods")
    assert found.keys() == LINES.keys()
    for name, line in LINES.items():
        assert found[name].startswith(line.format("method", "Method"))
        assert "\n" not in found[name]
    assert plugins.faults("tasks").keys() == {"lost", "number"}
    assert "not Benchmark" in plugins.faults("tasks")["number"]
    assert "there is no such benchmark" in plugins.faults("groups")["hollow"]


def test_methods_are_listed_with_a_line_for_each_guest_that_is_wrong(
    wrong: None, harness: Command, tmp_path: Path
) -> None:
    done = harness(tmp_path, "methods")
    assert done.returncode == 0, done.stderr
    assert "| half " in done.stdout
    assert "| dypam " in done.stdout
    for line in (
        "note: the method 'absent' of extra 1.0 cannot be imported",
        "note: the method 'broken' of extra 1.0 cannot be imported: SyntaxError",
        "note: the method 'silent' of extra 1.0 has no docstring.",
        "note: the method 'lora' of extra 1.0 is not used: the harness has that name.",
    ):
        assert line in done.stderr


def test_methods_are_counted_without_the_guests_that_are_wrong(
    wrong: None, harness: Command, tmp_path: Path, make_backbone: Callable[..., Path]
) -> None:
    make_backbone(tmp_path / "small")
    done = harness(tmp_path, "methods", "--backbone", "small")
    assert done.returncode == 0, done.stderr
    assert "| half " in done.stdout
    assert "| lost " not in done.stdout
    assert "the method 'lost' of extra 1.0 cannot be imported" in done.stderr


@pytest.mark.parametrize("command", ["tasks", "data status --data ."])
def test_benchmarks_and_data_are_listed_with_a_line_for_each_guest_that_is_wrong(
    command: str, wrong: None, harness: Command, tmp_path: Path
) -> None:
    done = harness(tmp_path, *command.split())
    assert done.returncode == 0, done.stderr
    for line in (
        "note: the benchmark 'lost' of extra 1.0 cannot be imported",
        "note: the benchmark 'number' of extra 1.0 offers 'int', not Benchmark",
        "note: the group 'lost' of extra 1.0 cannot be imported",
        "note: the benchmark 'gsm8k' of extra 1.0 is not used: the harness has that name.",
        "note: the group 'svamp' of extra 1.0 is not used: the harness has that name.",
    ):
        assert line in done.stderr
    assert "aardvarks" in done.stdout


def test_every_guest_that_cannot_be_used_is_a_finding_of_the_doctor(wrong: None) -> None:
    from harness.commands.doctor import examine  # noqa: PLC0415 (it imports torch)

    findings = [one for one, _ in zip(examine("all"), range(5), strict=False)]
    assert [one.method for one in findings[:4]] == sorted(LINES)
    assert all(one.fault for one in findings[:4])
    assert findings[4].method == "adalora"


@pytest.mark.parts
def test_all_methods_are_planned_without_the_guests_that_are_wrong(
    wrong: None, harness: Command, tmp_path: Path
) -> None:
    done = harness(tmp_path, "run", "--methods", "all", "--tasks", "gsm8k", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "half on tiny, math" in done.stdout
    assert "lost on tiny" not in done.stdout


def test_a_guest_that_is_asked_for_by_name_is_refused_in_one_line(
    wrong: None, harness: Command, tmp_path: Path
) -> None:
    done = harness(tmp_path, "run", "--methods", "lost", "--tasks", "math")
    assert done.returncode == 2
    assert done.stderr == f"error: {LINES['lost'].format('method')}\n"


def test_a_group_of_a_guest_takes_no_benchmark_away(wrong: None) -> None:
    assert parse_tasks("gsm8k") == (Tasks("math", ("gsm8k",)),)
    assert parse_tasks("svamp") == (Tasks("math", ("svamp",)),)
    assert parse_tasks("aardvarks") == (Tasks("aardvarks", ("gsm8k", "theirs")),)
    assert parse_tasks("theirs") == (Tasks("aardvarks", ("theirs",)),)


def test_of_two_distributions_that_offer_one_name_the_second_is_told(
    install: Callable[..., Path], tmp_path: Path
) -> None:
    install("[harness.methods]\nhalf = extra.half:method\n", half=METHOD)
    record = tmp_path / "site" / "zebra-2.0.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Metadata-Version: 2.1\nName: zebra\nVersion: 2.0\n")
    (record / "entry_points.txt").write_text("[harness.methods]\nhalf = nowhere:method\n")
    plugins._entry_points.cache_clear()
    assert plugins.method("half").title == "Half LoRA"
    line = "the method 'half' of zebra 2.0 is not used: extra 1.0 has that name."
    assert plugins.taken("methods") == [line]


@pytest.mark.parts
def test_a_benchmark_of_an_entry_point_alone_runs_to_its_table(
    install: Callable[..., Path], program: Command, tmp_path: Path
) -> None:
    install("[harness.tasks]\ntheirs = extra.theirs:benchmark\n", theirs=BENCHMARK)
    assert parse_tasks("theirs") == (Tasks("theirs", ("theirs",)),)
    done = program(tmp_path, "run", "--methods", "base", "--tasks", "theirs", *SHORT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("theirs: accuracy")


def test_a_fault_that_the_harness_finds_in_a_file_is_placed_in_that_file(tmp_path: Path) -> None:
    path = tmp_path / "legs.py"
    call = 'benchmark = benchmark_from(__file__, "legs.json", kind="numeric")'
    path.write_text(
        f'"""Legs: of animals."""\nfrom tasks.from_file import benchmark_from\n{call}\n'
    )
    name = plugins.add("tasks", path)
    with pytest.raises(UserError, match=r"not 'numeric'\. \(legs\.py, line 3\)$"):
        plugins.benchmark(name)
