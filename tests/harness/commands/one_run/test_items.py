"""`harness items` and `harness diff`: run folders written by hand, without model and data."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.commands.one_run.diff import diff
from harness.commands.one_run.items import items, paired, read
from harness.errors import UserError
from harness.scheduling.executors.conformance.stand_in import RESULT
from harness.spec.planned import PlannedRun
from harness.spec.spec import Data
from results.record import Score
from results.runfolder.folder import RunFolder, RunFolderError
from results.runfolder.values import Divergence, Generation, Verdict

Command = Callable[..., Any]
Make = Callable[..., RunFolder]

FORMAT_1 = Path(__file__).parents[3] / "results" / "runfolder" / "format_1" / "96a36244336a66e7"
GOLD = ("7", "8", "9")
DIVERGED = Divergence(
    started=0.0,
    seconds={},
    environment_id="",
    trainable_parameters=1,
    total_parameters=2,
    peak_memory_bytes=3,
    step=3,
    reason="the loss is nan",
)


@pytest.fixture
def make(tmp_path: Path, planned: Callable[..., PlannedRun]) -> Make:
    """Write a run of three items; `found` is what the deciding extractor found in each."""

    def write(
        name: str, found: tuple[str, ...], sha256: str = "ab" * 32, **changes: Any
    ) -> RunFolder:
        data = Data(title="GSM8K", kind="sample", sha256=sha256, verified=True, rows=3)
        folder = RunFolder(tmp_path / name)
        folder.create(*planned(tests={"gsm8k": data, "aqua": data}, **changes).kept)
        rows = list(enumerate(zip(GOLD, found, strict=True)))
        folder.write_generations(
            "gsm8k",
            [
                Generation(
                    id=n,
                    prompt=f"Ask {n}",
                    answer=gold,
                    ended=n > 0,
                    long=False,
                    text=f"So {text}.",
                )
                for n, (gold, text) in rows
            ],
        )
        verdicts = [
            Verdict(
                id=n,
                extracted={"llm-adapters": text, "strict": ""},
                correct={"llm-adapters": text == gold, "strict": False},
            )
            for n, (gold, text) in rows
        ]
        folder.write_verdicts("gsm8k", verdicts)
        return folder

    return write


def test_items_need_the_run_folder_alone(make: Make, harness: Command, tmp_path: Path) -> None:
    make("run", ("7", "", "1"))
    done = harness(tmp_path, "items", "run", "gsm8k", "--jsonl")
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(one["prompt"], one["gold"], one["answer"]) for one in found] == [
        ("Ask 0", "7", "So 7."),
        ("Ask 1", "8", "So ."),
        ("Ask 2", "9", "So 1."),
    ]
    assert [one["extracted"]["llm-adapters"] for one in found] == ["7", "", "1"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ("--wrong", [1, 2]),
        ("--right", [0]),
        ("--unparsed", [1]),
        ("--cut", [0]),
        ("--wrong --cut", []),
        ("--limit 2", [0, 1]),
        ("--limit 2 --page 2", [2]),
    ],
)
def test_options_choose_items(
    options: str, ids: list[int], make: Make, harness: Command, tmp_path: Path
) -> None:
    make("run", ("7", "", "1"))
    done = harness(tmp_path, "items", "run", "--json", *options.split())
    assert [one["id"] for one in json.loads(done.stdout)] == ids


def test_against_another_run_only_other_verdicts_are_shown(
    make: Make, harness: Command, tmp_path: Path
) -> None:
    make("first", ("7", "8", "1"))
    make("second", ("7", "1", "2"))
    text = harness(tmp_path, "items", "first", "--against", "second").stdout
    assert text.startswith("## gsm8k 1 (row 2): right; against: wrong\n")
    assert text.endswith("Items 1 to 1 of 1.\n")
    assert "So 8." in text
    assert "So 1." in text


def test_runs_of_other_data_are_not_paired(make: Make) -> None:
    first, other = make("first", GOLD), make("other", GOLD, sha256="cd" * 32)
    with pytest.raises(UserError, match="gsm8k: the two runs were tested on different data"):
        items("none.db", str(first.path), against=str(other.path))


def test_a_benchmark_that_the_run_lacks_or_has_no_answers_to_is_refused(make: Make) -> None:
    folder = make("run", GOLD)
    with pytest.raises(UserError, match="Did you mean 'gsm8k'"):
        read(folder, "gsm9k")
    with pytest.raises(UserError, match="no answers to aqua; it did not finish"):
        read(folder, "aqua")
    folder.write_divergence(DIVERGED)
    with pytest.raises(UserError, match="no answers to aqua; it diverged in training"):
        read(folder, "aqua")


def test_a_folder_of_format_1_shows_what_it_has_and_says_what_it_lacks(
    harness: Command, tmp_path: Path
) -> None:
    done = harness(tmp_path, "items", str(FORMAT_1), "gsm8k", "--jsonl")
    assert done.stderr.count("\n") == 1
    assert "format 1, which keeps neither prompts nor gold answers" in done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["prompt"] for one in found] == ["", "", ""]
    assert all(one["answer"] and one["correct"] for one in found)


@pytest.fixture
def two(make: Make, harness: Command, tmp_path: Path) -> tuple[RunFolder, RunFolder]:
    """Make two runs that finished and are stored; each answers one item alone right."""
    found = (
        make("runs/first", ("7", "8", "1"), limit=3),
        make("runs/second", ("7", "1", "9"), limit=4),
    )
    for folder, right in zip(found, (2 / 3, 2 / 3), strict=True):
        score = Score("gsm8k", "accuracy", "llm-adapters", True, right, 3)
        folder.write_result(RESULT.model_copy(update={"scores": (score,)}))
    assert harness(tmp_path, "reindex").returncode == 0
    return found


def as_folder(folder: RunFolder) -> str:
    return str(folder.path)


def as_id(folder: RunFolder) -> str:
    return folder.head().run_id


@pytest.mark.parametrize("name", [as_folder, as_id])
def test_diff_shows_the_items_that_flipped_with_both_answers(
    name: Callable[[RunFolder], str],
    two: tuple[RunFolder, RunFolder],
    harness: Command,
    tmp_path: Path,
) -> None:
    done = harness(tmp_path, "diff", *map(name, two))
    assert done.returncode == 0, done.stderr
    sections = dict(part.split("\n\n", 1) for part in done.stdout.split("## ")[1:])
    assert sections["Spec"].split() == ["limit:", "3", "->", "4"]
    assert re.search(r"gsm8k +\| accuracy +\| 66.67 \| 66.67 \| +\+0.00", sections["Scores"])
    flipped = sections["Items that only one answers right"]
    assert re.search(r"gsm8k +\| +3 \| +1 \| +1 ", flipped)
    assert "gsm8k 1 (row 2): right; against: wrong" in done.stdout
    assert "gsm8k 2 (row 3): wrong; against: right" in done.stdout
    assert "gsm8k 0" not in done.stdout
    for answer in ("So 8.", "So 1.", "So 9."):
        assert answer in done.stdout


def test_diff_says_why_it_compares_no_answers(
    two: tuple[RunFolder, RunFolder], tmp_path: Path
) -> None:
    names = [as_id(folder) for folder in two]
    (two[1].path / "generations" / "gsm8k.jsonl.gz").write_bytes(b"cut")
    (note,) = diff(str(tmp_path / "harness.db"), *names).notes
    assert note.startswith("the answers are not compared: ")
    assert "gsm8k.jsonl.gz is damaged" in note
    shutil.rmtree(two[0].path)
    (note,) = diff(str(tmp_path / "harness.db"), *names).notes
    assert "spec.json is missing" in note


@pytest.mark.parametrize("spec", ["{}", '{"tests": {"gsm8k": 1}, "protocol": {}}'])
def test_a_spec_that_lacks_what_items_need_is_damage(make: Make, spec: str) -> None:
    folder, other = make("run", GOLD), make("other", GOLD)
    (folder.path / "spec.json").write_text(spec)
    with pytest.raises(RunFolderError, match="is damaged"):
        read(folder)
    with pytest.raises(RunFolderError, match="is damaged"):
        paired(other, folder)


def test_diff_counts_the_items_that_flipped_where_the_folders_are_gone(
    two: tuple[RunFolder, RunFolder], harness: Command, tmp_path: Path
) -> None:
    names = [as_id(folder) for folder in two]
    shutil.rmtree(tmp_path / "runs")
    done = harness(tmp_path, "diff", *names, "--json")
    found = json.loads(done.stdout)
    assert found["flips"] == [{"benchmark": "gsm8k", "n": 3, "first": 1, "second": 1}]
    assert found["items"] == []
