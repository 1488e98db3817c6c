"""`harness items`: a run folder written by hand, read without model, data or store."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.commands.one_run.items import items, read
from harness.errors import UserError
from harness.spec.planned import PlannedRun
from harness.spec.spec import Data
from results.runfolder.folder import RunFolder
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

    def write(name: str, found: tuple[str, ...], sha256: str = "ab" * 32) -> RunFolder:
        data = Data(title="GSM8K", kind="sample", sha256=sha256, verified=True, rows=3)
        folder = RunFolder(tmp_path / name)
        folder.create(*planned(tests={"gsm8k": data, "aqua": data}).kept)
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
