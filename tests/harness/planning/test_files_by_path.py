"""A method or a benchmark by the path of its file: what it is called, and which run it makes."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import plugins
from harness.errors import UserError
from harness.planning.plan import plan
from harness.planning.request import Request
from harness.spec.planned import PlannedRun
from results.runfolder.claims import claimed
from results.runfolder.folder import RunFolder

Command = Callable[..., Any]

METHOD = '''"""Tanh LoRA: LoRA of another rank."""
from dataclasses import replace
from ranks import RANK, nothing
from methods.lora import method as lora
defaults = {**lora.defaults, "r": RANK}
method = replace(lora, title="Tanh LoRA", defaults=defaults, auxiliary_loss=nothing)
'''
RANKS = """
RANK = 4
def nothing(model):
    return 0 * sum(one.sum() for one in model.parameters() if one.requires_grad)
"""
BENCHMARK = '''"""Zoo: sums of animals."""
from dataclasses import replace
from tasks.gsm8k import benchmark as gsm8k
def judge(found, gold):
    return float(found or 0) == float(gold)
benchmark = replace(gsm8k, title="Zoo", judge=judge)
'''
SHORT = (
    *("--limit", "2", "--train-limit", "20", "--set", "train.epochs=1", "--slots", "1"),
    *("--set", "protocol.max_new_tokens=8"),
)


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    folder = tmp_path / "my"
    folder.mkdir()
    (folder / "tanh_lora.py").write_text(METHOD)
    (folder / "ranks.py").write_text(RANKS)
    (folder / "zoo.py").write_text(BENCHMARK)
    return folder


def planned(folder: Path, method: str = "", tasks: str = "math") -> PlannedRun:
    request = Request(methods=method or str(folder / "tanh_lora.py"), tasks=tasks)
    (run,) = plan(request)
    return run


@pytest.mark.parts
def test_a_run_of_two_files_reaches_its_table_by_their_names(
    mine: Path, program: Command, tmp_path: Path
) -> None:
    grid = ("run", "--methods", "my/tanh_lora.py[r=8]", "--tasks", "my/zoo.py", *SHORT)
    done = program(tmp_path, *grid)
    assert done.returncode == 0, done.stderr
    assert "| tiny     | tanh_lora[r=8] |" in done.stdout
    assert done.stdout.startswith("zoo: accuracy in percent")

    paper = program(tmp_path, "table", "--format", "latex").stdout
    assert "Tanh LoRA (r=8)" in paper
    assert r"\caption{Zoo: accuracy in percent" in paper

    (run,) = (tmp_path / "runs").iterdir()
    (mine / "ranks.py").write_text(RANKS.replace("4", "2"))
    (mine / "zoo.py").unlink()
    rerun = program(tmp_path, "rerun", run.name)
    assert (rerun.returncode, "equal to the last bit" in rerun.stdout) == (0, True), rerun.stderr
    for path, copy in (("ranks.py", "methods/tanh_lora/ranks.py"), ("zoo.py", "tasks/zoo/zoo.py")):
        used = run / "files" / copy
        assert f"note: {mine / path} is not what it was; its copy is used: {used}" in rerun.stderr
    (mine / "ranks.py").write_text(RANKS)
    (mine / "zoo.py").write_text(BENCHMARK)

    mine.rename(tmp_path / "moved")
    again = program(tmp_path, *(word.replace("my/", "moved/") for word in grid), "--dry-run")
    assert "1 run, 0 to do." in again.stdout, again.stderr


def test_name_and_content_of_a_method_and_of_what_it_imports_name_the_run(mine: Path) -> None:
    before = planned(mine).spec
    assert (before.method.name, before.method.fields["r"]) == ("tanh_lora", 4)
    (mine / "tanh_lora.py").write_text(METHOD.replace("another rank", "any rank"))
    assert planned(mine).spec.run_id == before.run_id
    (mine / "ranks.py").write_text(RANKS.replace("0 *", "0.0 *"))
    assert planned(mine).spec.run_id != before.run_id
    (mine / "ranks.py").write_text(RANKS)
    assert planned(mine).spec.run_id == before.run_id
    (mine / "other.py").write_text(METHOD)
    assert planned(mine, str(mine / "other.py")).spec.run_id != before.run_id


def test_name_and_content_of_a_benchmark_name_the_run(mine: Path) -> None:
    zoo = str(mine / "zoo.py")
    before = planned(mine, "lora", zoo).spec
    assert (before.group, [*before.tests]) == ("zoo", ["zoo"])
    assert before.task_sources.keys() == {"tasks/zoo"}
    (mine / "zoo.py").write_text(BENCHMARK.replace("== float(gold)", ">= float(gold)"))
    after = planned(mine, "lora", zoo).spec
    assert (after.tests, after.method) == (before.tests, before.method)
    assert len({before.run_id, after.run_id}) == len({before.setting, after.setting}) == 2


def test_a_benchmark_of_the_harness_has_no_source_in_the_spec(mine: Path) -> None:
    assert "task_sources" not in planned(mine).spec.model_dump()


def test_helpers_of_one_name_beside_two_files_are_not_mistaken_for_each_other(
    mine: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "low.py").write_text(METHOD)
    (other / "ranks.py").write_text(RANKS.replace("4", "2"))
    request = Request(methods=f"{mine / 'tanh_lora.py'},{other / 'low.py'}", tasks="math")
    assert [run.spec.method.fields["r"] for run in plan(request)] == [4, 2]


def test_a_file_that_changed_is_read_again_in_the_same_process(mine: Path) -> None:
    assert planned(mine).spec.method.fields["r"] == 4
    (mine / "tanh_lora.py").write_text(METHOD.replace("RANK}", "3 * RANK}"))
    assert planned(mine).spec.method.fields["r"] == 12


def test_a_helper_that_another_module_hides_is_refused(
    mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = tmp_path / "away"
    away.mkdir()
    (away / "ranks.py").write_text(RANKS)
    monkeypatch.syspath_prepend(away)
    monkeypatch.delitem(sys.modules, "ranks", raising=False)
    __import__("ranks")
    with pytest.raises(UserError, match=r"imports 'ranks', which is .*away"):
        planned(mine)
    del sys.modules["ranks"]


def test_a_worker_refuses_a_file_that_changed_after_the_run_was_planned(
    mine: Path, tmp_path: Path
) -> None:
    from harness.worker.attempt import execute  # noqa: PLC0415 (it sets torch up)

    run = planned(mine)
    folder = RunFolder(tmp_path / "run")
    folder.create(*run.kept)
    (mine / "ranks.py").write_text(RANKS.replace("4", "5"))
    with claimed(folder, pytest.fail) as claim:
        assert claim
        with pytest.raises(UserError, match=r"ranks.py is not what it was when the run was"):
            execute(claim)


def test_a_run_folder_says_where_the_files_lay(mine: Path, tmp_path: Path) -> None:
    run = planned(mine)
    folder = RunFolder(tmp_path / "run")
    folder.create(*run.kept)
    assert PlannedRun.of(folder) == run
    (file,) = run.files
    assert (file.kind, file.path) == ("methods", str(mine / "tanh_lora.py"))
    assert {Path(path).name for path in file.texts} == {"tanh_lora.py", "ranks.py"}


def test_stored_answers_are_rescored_with_a_benchmark_by_path(
    mine: Path, harness: Command, tmp_path: Path
) -> None:
    done = harness(tmp_path, "run", "--methods", "base", "--tasks", "my/zoo.py", *SHORT)
    assert done.returncode == 0, done.stderr
    (mine / "zoo.py").write_text(BENCHMARK.replace("== float(gold)", "!= float(gold)"))
    done = harness(tmp_path, "rescore")
    assert done.returncode == 0, done.stdout
    assert "zoo accuracy 0.0 -> 1.0" in done.stdout


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("methods my/tanh_lora.py", ["Tanh LoRA: LoRA of another rank.", "r=4"]),
        ("tasks my/zoo.py", ["| zoo   | zoo ", "Zoo: sums of animals."]),
        ("methods my/tanh_lora.py --json", ['"method": "tanh_lora"']),
    ],
)
def test_a_file_is_shown_by_its_path(
    command: str, words: list[str], mine: Path, harness: Command, tmp_path: Path
) -> None:
    done = harness(tmp_path, *command.split())
    assert done.returncode == 0, done.stderr
    for word in words:
        assert word in done.stdout


FAULTS = {
    "run --tasks math --methods my/nowhere.py": "my/nowhere.py: there is no such file.",
    "run --methods lora --tasks my/nowhere.py": "my/nowhere.py: there is no such file.",
    "run --tasks math --methods my/lora.py": "'lora' is another method already. Rename the file.",
    "run --methods lora --tasks my/math.py": "'math' is another benchmark already.",
    "run --tasks math --methods my/zoo.py": "zoo.py does not end in `method = Method(...)`",
    "run --tasks math --methods my/broken.py": "NameError: name 'rank' is not defined (broken.py, "
    "line 3)",
    "run --tasks math --methods my/ends.py": "ends.py cannot be imported: SystemExit: 3",
    "run --methods lora --tasks my/text.py": "text.py offers 'str', not Benchmark",
    "run --tasks math --methods my/tanh_lora.py,two/tanh_lora.py": "are both called 'tanh_lora'",
    "run --methods lora --tasks my/bare.py": "bare has no generated sample: name the folder of its "
    "data with --data DIR.",
    "run --methods lora --tasks my/zoo.py --data two": "zoo has no training set: name a file with "
    "--train-data FILE, or give the benchmark a field `train`.",
    "run --methods lora --tasks math --data away": "error: --data away: no such folder.\n",
    "methods my/nowhere.py": "there is no such file",
    "tasks my/text.py": "text.py offers 'str', not Benchmark",
}


@pytest.mark.parametrize("command", FAULTS)
def test_what_is_wrong_with_a_file_is_said_in_a_line(
    command: str, mine: Path, harness: Command, tmp_path: Path
) -> None:
    (tmp_path / "two").mkdir()
    for name, text in {
        "my/lora": METHOD,
        "my/math": BENCHMARK,
        "my/broken": '"""Broken."""\n\nmethod = rank\n',
        "my/ends": "raise SystemExit(3)\n",
        "my/text": 'benchmark = "zoo"\n',
        "my/bare": BENCHMARK.replace("judge=judge", "sample=()"),
        "two/tanh_lora": METHOD,
    }.items():
        (tmp_path / f"{name}.py").write_text(text)
    done = harness(tmp_path, *command.split())
    assert done.returncode == 2
    assert FAULTS[command] in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parts
def test_own_benchmarks_train_together_on_a_file_of_the_users(
    mine: Path, program: Command, tmp_path: Path
) -> None:
    (mine / "farm.py").write_text(BENCHMARK.replace("Zoo", "Farm"))
    rows = [{"instruction": f"{n} + 1?", "output": f"It is {n + 1}."} for n in range(30)]
    (tmp_path / "rows.json").write_text(json.dumps(rows))
    grid = ("run", "--methods", "lora", "--tasks", "my/zoo.py,my/farm.py", *SHORT)
    done = program(tmp_path, *grid, "--train-data", "rows.json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("farm+zoo: accuracy in percent")
    assert "trained on rows.json, a file of the user's" in done.stdout


def test_an_own_benchmark_stands_beside_those_of_a_group(mine: Path) -> None:
    place = mine / "zoo.py"
    math, zoo = plan(Request(methods="base", tasks=f"gsm8k,{place}"))
    assert [(run.spec.group, [*run.spec.tests]) for run in (math, zoo)] == [
        ("math", ["gsm8k"]),
        ("zoo", ["zoo"]),
    ]
    assert [[file.path for file in run.files] for run in (math, zoo)] == [[], [str(place)]]


def test_a_file_in_the_place_of_another_takes_its_name(mine: Path, tmp_path: Path) -> None:
    other = tmp_path / "zoo.py"
    other.write_text(BENCHMARK.replace("Zoo", "Another zoo"))
    plugins.add("tasks", mine / "zoo.py")
    plugins.add("tasks", other)
    assert plugins.benchmark("zoo").title == "Another zoo"
