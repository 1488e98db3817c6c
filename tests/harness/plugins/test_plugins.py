from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import plugins
from harness.commands import catalogue as listing
from harness.errors import UserError
from harness.planning import methods as hyperparameters
from harness.planning.parse import Tasks, parse_method, parse_tasks
from harness.scheduling.executors.local import LocalExecutor

METHOD = '''"""Half LoRA: LoRA of half the rank."""
from dataclasses import replace
from methods.lora import method as lora
method = replace(lora, title="Half LoRA", defaults={**lora.defaults, "r": 12})
'''
GROUP = '''"""Other: one benchmark."""
from tasks.contract import Group
group = Group(title="Other", benchmarks=("theirs",), train=(), sample_rows=10)
'''
BENCHMARK = '''"""Theirs."""
from dataclasses import replace
from tasks.gsm8k import benchmark as gsm8k
benchmark = replace(gsm8k, title="Theirs")
'''
EXECUTOR = '''"""Mine: the local executor under another name."""
from harness.scheduling.executors.local import LocalExecutor as executor
'''
ENTRIES = """
[harness.methods]
half = extra.half:method
[harness.tasks]
theirs = extra.theirs:benchmark
[harness.groups]
other = extra.other:group
[harness.executors]
mine = extra.mine:executor
"""


@pytest.fixture
def extra(install: Callable[..., Path]) -> Path:
    return install(ENTRIES, half=METHOD, theirs=BENCHMARK, other=GROUP, mine=EXECUTOR)


NAMES = """
import sys
from harness import plugins
from harness.commands import catalogue as listing
print(*(name for kind in plugins.PACKAGES for name in plugins.names(kind)))
listing.methods(None, None)
print(*sorted(sys.modules))
"""


def test_naming_and_describing_methods_imports_none_of_them(python: Callable[..., Any]) -> None:
    answer = python(NAMES)
    names, modules = (line.split() for line in answer.stdout.splitlines())
    assert {"lora", "dypam", "gsm8k", "math"} <= set(names), answer.stderr
    heavy = {"torch", "peft", "transformers", "methods.lora", "methods.contract", "tasks.gsm8k"}
    assert heavy & set(modules) == set()


def test_a_folder_and_the_contract_are_no_plugins() -> None:
    # methods/conformance, tasks/data and tasks/samples are folders; contract.py is the contract.
    found = {*plugins.names("methods"), *plugins.names("tasks")}
    assert found & {"contract", "form", "prompts", "trainer"} == set()
    assert found & {"conformance", "data", "samples", "groups", "answers"} == set()


def test_another_distribution_adds_plugins_of_every_kind(extra: Path) -> None:
    assert plugins.names("methods") == sorted(
        {"lora", "dypam", "half"} | {*plugins.names("methods")}
    )
    assert plugins.method("half").configure().r == 12  # type: ignore[attr-defined]
    assert plugins.benchmark("theirs").title == "Theirs"
    assert parse_tasks("theirs") == (Tasks("other", ("theirs",)),)
    assert parse_tasks("math")[0].group == "math"
    assert plugins.names("executors") == ["local", "mine", "ray", "slurm"]
    assert plugins.executor("mine") is LocalExecutor


def test_the_name_of_no_executor_is_refused_with_those_that_are_known() -> None:
    # contract.py is the contract, conformance/ the checks.
    for name in ("contract", "conformance", "kubernetes"):
        with pytest.raises(UserError, match=f"'{name}' is not a known executor.\n  Known: local"):
            plugins.executor(name)


def test_a_method_of_another_distribution_is_hashed_by_its_own_source(extra: Path) -> None:
    first = hyperparameters.complete(parse_method("half[r=6]"))
    assert first.label == "half[r=6]"
    (extra / "half.py").write_text(METHOD + "# changed\n")
    assert hyperparameters.complete(parse_method("half[r=6]")) == first
    (extra / "half.py").write_text(METHOD.replace("(lora, ", "(lora, hooks=print, "))
    assert hyperparameters.complete(parse_method("half[r=6]")).source != first.source


def test_a_method_of_another_distribution_is_listed(extra: Path) -> None:
    rows = listing.methods(None, None).value
    assert {"method": "half", "what": "Half LoRA: LoRA of half the rank."} in rows


def test_no_other_distribution_takes_the_name_of_one_of_our_methods(
    install: Callable[..., Path],
) -> None:
    install("[harness.methods]\nlora = extra.half:method\n", half=METHOD)
    assert plugins.method("lora").title == "LoRA"


def test_an_entry_point_offers_the_object_that_it_names(install: Callable[..., Path]) -> None:
    install(
        "[harness.methods]\nhalf = extra.half:mine\n", half=METHOD.replace("method =", "mine =")
    )
    assert plugins.method("half").title == "Half LoRA"
